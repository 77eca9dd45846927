// SPDX-License-Identifier: BSD-3-Clause

package loop_test

import (
	"slices"
	"testing"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/fabrictest"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
)

// open returns all domains of a new world.
func open(t *testing.T, n int, o loop.Options) []fabric.Domain {
	t.Helper()
	w, err := loop.New(n, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	var domains []fabric.Domain
	for pe := range n {
		d, err := w.Open(fabric.Job{PE: pe, NPEs: n, SegmentSize: o.SegmentSize})
		if err != nil {
			t.Fatal(err)
		}
		domains = append(domains, d)
	}
	return domains
}

// worlds is a factory of worlds with these options.
func worlds(o loop.Options) fabrictest.Factory {
	return func(t *testing.T, n int, segment uintptr) []fabric.Domain {
		t.Helper()
		o := o
		o.SegmentSize = segment
		return open(t, n, o)
	}
}

func TestConformance(t *testing.T) {
	for _, mode := range []struct {
		name string
		o    loop.Options
	}{
		{"far at once", loop.Options{}},
		{"far delayed 1", loop.Options{Seed: 1, MaxDelay: 200 * time.Microsecond}},
		{"far delayed 2", loop.Options{Seed: 2, MaxDelay: 200 * time.Microsecond}},
		{"torn", loop.Options{Seed: 3, MaxDelay: 100 * time.Microsecond, TearSize: 100}},
		{"split", loop.Options{Seed: 4, MaxDelay: 200 * time.Microsecond, NodeSize: 2}},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel() // they sleep most of the time
			fabrictest.Run(t, worlds(mode.o), pinned(mode.o.NodeSize > 0))
		})
	}
}

// pinned returns the rows that run where PEs are near each other or not.
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
