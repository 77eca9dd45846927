// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import (
	"math/bits"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/symheap"
)

// A member sends one message a round, so that the most that one sends bounds the rounds.
func TestFar_CostGrowsWithTheLogarithm(t *testing.T) {
	const own = collectives.GroupSize                               // offset of the members' elements
	trees, err := collectives.ParseChoices("reduce=tree,scan=tree") // also where they are not taken
	if err != nil {
		t.Fatal(err)
	}
	calls := []struct {
		name  string
		times int // how often one message for each bit of the number of members
		extra int // and more
		call  func(g *collectives.Group) error
	}{
		{"barrier", 1, 0, func(g *collectives.Group) error { return g.Sync(collectives.Call{Kind: collectives.KindBarrierAll}) }},
		{"broadcast", 2, 1, func(g *collectives.Group) error { return collectives.Broadcast(g, own, own, 8, 1, 0) }},
		{"sum", 2, 1, func(g *collectives.Group) error {
			return collectives.SumReduce[uint64](g, collectives.Array{Dst: own, Src: own, N: 1})
		}},
		{"sum of 8", 3, 1, func(g *collectives.Group) error {
			g.Choose(trees)
			return collectives.SumReduce[uint64](g, collectives.Array{Dst: own, Src: own, N: 8})
		}},
		{"scan of 8", 3, 1, func(g *collectives.Group) error {
			g.Choose(trees)
			return collectives.SumExclusiveScan[uint64](g, collectives.Array{Dst: own, Src: own, N: 8})
		}},
		{"collect of equal blocks", 2, 0, func(g *collectives.Group) error { return collectives.FCollect(g, own+8, own, 1, 1) }},
	}
	for _, n := range []int{2, 3, 4, 7, 100, 1000, 10_000} {
		if race.Enabled && n > 100 {
			continue // the detector's goroutines are few
		}
		for _, c := range calls {
			sent := make([]atomic.Int64, n)
			w, err := loop.New(n, loop.Options{SegmentSize: own + 64 + uintptr(n), Faults: loop.Faults{
				Drop: func(e loop.Event) bool {
					if e.Kind != loop.Put { // that of a signal comes with it; a wrapped one is one more
						sent[e.Source].Add(1)
					}
					return false
				},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if n > 1000 && c.name == "collect of equal blocks" {
				continue // every member gets a block of each
			}
			var pes errgroup.Group
			for pe := range n {
				pes.Go(func() error {
					d, err := w.Open(fabric.Job{PE: pe, NPEs: n})
					if err != nil {
						return err
					}
					ep, err := d.Endpoint()
					if err != nil {
						return err
					}
					return c.call(collectives.New(symheap.NewWindow(d, ep, pe, n), 0, false, collectives.Choices{}, func() string { return "" }))
				})
			}
			if err := pes.Wait(); err != nil {
				t.Fatal(err)
			}
			most, all := int64(0), int64(0)
			for i := range sent {
				most, all = max(most, sent[i].Load()), all+sent[i].Load()
			}
			t.Logf("%s of %d members: at most %d messages of a member, %d in all", c.name, n, most, all)
			if limit := int64(c.times*bits.Len(uint(n-1)) + c.extra); most > limit {
				t.Errorf("%s of %d members: a member sends %d messages, want at most %d", c.name, n, most, limit)
			}
		}
	}
}
