// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package joint_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/fabrictest"
	"github.com/goshmem/goshmem/fabric/joint"
	"github.com/goshmem/goshmem/fabric/ofi"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/internal/segment"
)

// A mode is a way to join PEs of this process: perNode of them share memory.
type mode struct {
	name    string
	perNode int
	joint   joint.Options
	ofi     ofi.Options
}

// open opens the domains of n PEs.
func (m mode) open(t *testing.T, n int, size uintptr) []fabric.Domain {
	t.Helper()
	var domains []fabric.Domain
	for first := 0; first < n; first += m.perNode {
		l := segment.Layout{First: first, PEs: min(m.perNode, n-first), NPEs: n, Size: size, Cores: 1}
		file, err := segment.CreateFile(l)
		require.NoError(t, err)
		for pe := first; pe < first+l.PEs; pe++ {
			near, err := shm.New(file).Open(fabric.Job{PE: pe, NPEs: n})
			require.NoError(t, err)
			m.ofi.Crowded = n > runtime.NumCPU()
			far, err := ofi.New(m.ofi).Open(fabric.Job{PE: pe, NPEs: n, SegmentSize: size})
			require.NoError(t, err)
			o := m.joint
			o.PE, o.NPEs = pe, n
			d, err := joint.New(near, far.(fabric.Driver), o)
			require.NoError(t, err)
			domains = append(domains, d)
		}
		require.NoError(t, file.Close())
	}
	return domains
}

func TestConformance(t *testing.T) {
	for _, m := range []mode{
		{name: "nodes of two PEs", perNode: 2},
		{name: "nodes of one PE", perNode: 1},
		{name: "atomics by the fabric", perNode: 2, joint: joint.Options{FarAtomics: true}},
		{name: "everything by the fabric", perNode: 4, joint: joint.Options{AllFar: true}},
		{name: "memory that stays", perNode: 2, ofi: ofi.Options{Allocated: true}},
	} {
		t.Run(m.name, func(t *testing.T) {
			m.ofi.Provider = "tcp;ofi_rxm"
			fabrictest.Run(t, m.open, pinned(m.perNode > 1 && !m.joint.AllFar))
		})
	}
}

// pinned returns the rows of the suite that apply where the PEs of a node are near each
// other or not.
func pinned(near bool) []string {
	rows := []string{
		"put: copies every size between all alignments and nothing else",
		"get: copies every size between all alignments and nothing else",
		"put: src may be reused on return",
		"put, get: zero length is a no-op, also at the segment's end",
		"nbi: puts, gets and fetches are complete after quiet",
		"strided: block by block, gaps untouched",
		"vectored: part by part, of all sizes, and nothing else",
		"put word: stores each size and leaves its neighbours",
		"put word: is never torn",
		"atomic: every native operation on every type does what Apply says",
		"atomic: what does not apply is refused",
		"atomic: four PEs add to one word and none is lost",
		"atomic: small words that share a word do not disturb each other",
		"atomic: fetched sums are all different",
		"atomic: of several compare-and-swaps one wins",
		"fence: orders a put before a word",
		"fence: orders a put before an atomic",
		"fence: orders a non-blocking put before a word",
		"fence: orders a put before a fetching atomic",
		"fence: the last of several words stays",
		"quiet: completes puts so that a third PE sees them",
		"quiet: completes words and atomics",
		"quiet: is not starved by a busy neighbour on its endpoint",
		"quiet: is not starved by a busy neighbour on another endpoint",
		"put signal: the signal never shows before its data",
		"put signal: without data it is a signal",
		"wait: every comparison at every width reads its own bytes alone",
		"wait: a condition that holds returns at once",
		"wait: a word put ends it",
		"wait: an atomic ends it",
		"wait: a fetching atomic ends it",
		"wait: a put and a quiet end it",
		"wait: a signal ends it",
		"wait: an own goroutine's store and wake end it",
		"wait: a near PE's store and wake end it",
		"wait: a wake of all near PEs ends it",
		"wait: a bare store ends it in the end",
		"wait: a near PE's word can be waited for",
		"wait: sleepers are seen by near PEs",
		"wait: shows what was visible before the update",
		"wait: a thousand goroutines of one PE",
		"endpoint: many goroutines use one at once",
		"endpoint: many goroutines use one each at once",
		"endpoint: close completes what is outstanding",
		"abort: ends present and future waits of all PEs",
		"close: segments stay mapped",
	}
	return slices.DeleteFunc(rows, func(name string) bool {
		switch name {
		case "wait: a near PE's word can be waited for",
			"wait: sleepers are seen by near PEs":
			return !near
		case "wait: a near PE's store and wake end it",
			"wait: a wake of all near PEs ends it",
			"wait: a bare store ends it in the end":
			return !near || race.Enabled
		}
		return false
	})
}

// undriven is a domain whose waits poll no other.
type undriven struct{ fabric.Domain }

func TestNew_WantsWaitsThatPoll(t *testing.T) {
	_, err := joint.New(undriven{}, nil, joint.Options{})
	require.ErrorContains(t, err, "can't poll another one")
}
