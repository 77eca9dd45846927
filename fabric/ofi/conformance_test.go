// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/fabrictest"
)

// factory opens jobs of the suite.
func factory(o Options, l lab) fabrictest.Factory {
	return func(t *testing.T, n int, segment uintptr) []fabric.Domain {
		t.Helper()
		p := provider(o, n)
		p.lab = l
		domains := make([]fabric.Domain, n)
		for pe, d := range openAll(t, p, n, segment) {
			domains[pe] = d
		}
		return domains
	}
}

func TestConformance(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) { fabrictest.Run(t, factory(o, lab{}), fabrictest.Rows(false, false)) })
	}
}

// TestConformance_OtherBranches runs the rows that tell whether the branches work
// that these providers do not take by themselves.
func TestConformance_OtherBranches(t *testing.T) {
	for _, branch := range []struct {
		name string
		o    Options
		lab  lab
		rows []string
	}{
		{
			name: "messages cut at 3000 bytes",
			lab:  lab{maxMessage: 3000},
			rows: []string{
				"put: copies every size between all alignments and nothing else",
				"get: copies every size between all alignments and nothing else",
				"nbi: puts, gets and fetches are complete after quiet",
				"strided: block by block, gaps untouched",
				"vectored: part by part, of all sizes, and nothing else",
				"put signal: the signal never shows before its data",
			},
		},
		{
			name: "a transmit queue of 4",
			o:    Options{TxSize: 4},
			rows: []string{
				"put: src may be reused on return",
				"nbi: puts, gets and fetches are complete after quiet",
				"strided: block by block, gaps untouched",
				"vectored: part by part, of all sizes, and nothing else",
				"atomic: four PEs add to one word and none is lost",
				"quiet: is not starved by a busy neighbour on its endpoint",
				"endpoint: many goroutines use one at once",
			},
		},
		{
			name: "memory that stays",
			o:    Options{Allocated: true},
			rows: []string{"put: src may be reused on return"},
		},
		{
			name: "quiet that reads back",
			o:    Options{ReadBack: true},
			rows: []string{
				"nbi: puts, gets and fetches are complete after quiet",
				"quiet: completes puts so that a third PE sees them",
				"quiet: completes words and atomics",
				"fence: orders a put before a word",
				"endpoint: close completes what is outstanding",
			},
		},
		{
			name: "a flood at once",
			o:    Options{Flood: 1},
			rows: []string{
				"put: src may be reused on return",
				"nbi: puts, gets and fetches are complete after quiet",
				"put signal: the signal never shows before its data",
				"quiet: completes puts so that a third PE sees them",
				"fence: orders a put before a word",
				"endpoint: many goroutines use one at once",
				"endpoint: close completes what is outstanding",
			},
		},
		{
			name: "a descriptor to sleep on",
			lab:  lab{sleep: sleepOnDescriptor},
			rows: sleepers,
		},
		{
			name: "sockets to sleep on",
			lab:  lab{sleep: sleepOnSockets},
			rows: sleepers,
		},
		{
			name: "atomics in software",
			lab:  lab{limit: true, native: softwareOnly()},
			rows: []string{
				"put word: stores each size and leaves its neighbours",
				"put word: is never torn",
				"atomic: what does not apply is refused",
				"atomic: small words that share a word do not disturb each other",
				"atomic: fetched sums are all different",
				"put signal: the signal never shows before its data",
			},
		},
	} {
		t.Run(branch.name, func(t *testing.T) {
			for _, o := range tested {
				t.Run(o.Provider, func(t *testing.T) {
					branch.o.Provider = o.Provider
					for _, row := range branch.rows {
						require.NoError(t, fabrictest.Check(t, factory(branch.o, branch.lab), row), row)
					}
				})
			}
		})
	}
}

// sleepers are rows in which PEs, two or more, sleep or are served by their threads.
var sleepers = []string{
	"put: src may be reused on return",
	"get: copies every size between all alignments and nothing else",
	"nbi: puts, gets and fetches are complete after quiet",
	"put signal: the signal never shows before its data",
	"quiet: completes puts so that a third PE sees them",
	"atomic: four PEs add to one word and none is lost",
	"endpoint: many goroutines use one at once",
}

// softwareOnly leaves a provider nothing but the widest compare-and-swap.
func softwareOnly() fabric.AtomicTable {
	var t fabric.AtomicTable
	t.Set(fabric.OpCswap, fabric.Uint64)
	return t
}
