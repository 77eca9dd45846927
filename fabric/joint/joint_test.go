// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package joint_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

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
			o.PE = pe
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
			near := m.perNode > 1 && !m.joint.AllFar
			fabrictest.Run(t, m.open, fabrictest.Rows(near, near && !race.Enabled))
		})
	}
}

// TestClose_LeavesWaitsBe: a goroutine may wait for ever. It must not poll what is closed, and near
// PEs can still wake it.
func TestClose_LeavesWaitsBe(t *testing.T) {
	const off = 128
	d := mode{perNode: 1, ofi: ofi.Options{Provider: "tcp;ofi_rxm"}}.open(t, 1, segment.SystemSize)[0]
	blob, err := d.Register(d.Map(0))
	require.NoError(t, err)
	require.NoError(t, d.Connect(fabric.NewTable([][]byte{blob})))
	ep, err := d.Endpoint()
	require.NoError(t, err)
	word := d.Map(0)[off : off+8]

	ended := make(chan error, 1)
	go func() {
		ended <- d.Wait(fabric.Cond{Off: off, Type: fabric.Uint64, Cmp: fabric.CmpEQ, Value: 1})
	}()
	require.Eventually(t, func() bool { return atomic.LoadUint32(d.Sleepers()) != 0 }, time.Minute, time.Millisecond)
	require.NoError(t, ep.Close())
	require.NoError(t, d.Close())
	for range 100 { // as a busy neighbour does
		d.Wake(0)
	}
	copy(word, []byte{1})
	d.Wake(0)
	require.NoError(t, <-ended)
	require.NoError(t, d.Wait(fabric.Cond{Off: off, Type: fabric.Uint64, Cmp: fabric.CmpEQ, Value: 1}))
}

// undriven is a domain whose waits poll no other.
type undriven struct{ fabric.Domain }

func TestNew_WantsWaitsThatPoll(t *testing.T) {
	_, err := joint.New(undriven{}, nil, joint.Options{})
	require.ErrorContains(t, err, "can't poll another one")
}
