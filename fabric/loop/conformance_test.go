// SPDX-License-Identifier: BSD-3-Clause

package loop_test

import (
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
			fabrictest.Run(t, worlds(mode.o), fabrictest.Rows(mode.o.NodeSize > 0, mode.o.NodeSize > 0 && !race.Enabled))
		})
	}
}
