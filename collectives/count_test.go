// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import (
	"math/bits"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/symheap"
)

// A cost bounds how many messages a member sends in a call. It sends one a round, so that this
// bounds the rounds.
type cost struct {
	name  string
	times int // how often one message for each bit of the number of members
	extra int // and more
	from  int // members on
	call  func(g *collectives.Group) error
}

func costs(t *testing.T) []cost {
	t.Helper()
	const own = collectives.GroupSize // offset of the members' elements
	halving, err := collectives.ParseChoices("reduce=halving")
	if err != nil {
		t.Fatal(err)
	}
	return []cost{
		{"barrier", 1, 0, 1, func(g *collectives.Group) error { return g.Sync(collectives.Call{Kind: collectives.KindBarrierAll}) }},
		{"broadcast", 1, 0, 1, func(g *collectives.Group) error { return collectives.Broadcast(g, own, own, 8, 1, 0) }},
		{"sum", 2, 1, 1, func(g *collectives.Group) error {
			return collectives.SumReduce[uint64](g, collectives.Array{Dst: own, Src: own, N: 1})
		}},
		{"sum of 8", 3, 1, 17, func(g *collectives.Group) error {
			return collectives.SumReduce[uint64](g, collectives.Array{Dst: own, Src: own, N: 8})
		}},
		{"collect of equal blocks", 2, 0, 1, func(g *collectives.Group) error { return collectives.FCollect(g, own+8, own, 1, 1) }},
		{"scan of 8", 3, 1, 17, func(g *collectives.Group) error {
			return collectives.SumExclusiveScan[uint64](g, collectives.Array{Dst: own, Src: own, N: 8})
		}},
		{"agreement", 2, 2, 1, func(g *collectives.Group) error {
			_, err := g.Agree(collectives.Call{Kind: collectives.KindAlloc}, false)
			return err
		}},
		{"collect", 5, 4, 17, func(g *collectives.Group) error {
			return collectives.Collect(g, own+8, own, 1, g.Me()%2, g.NPEs())
		}},
		{"sum by halving", 4, 2, 1, func(g *collectives.Group) error {
			g.Choose(halving)
			return collectives.SumReduce[uint64](g, collectives.Array{Dst: own, Src: own, N: 8})
		}},
	}
}

// count calls c on n members, in nodes of perNode unless that is 0, and returns how many messages a member
// sends at most, and all together.
func (c cost) count(t *testing.T, n, perNode int) (most, all int) {
	t.Helper()
	sent := make([]atomic.Int64, n)
	w, err := loop.New(n, loop.Options{SegmentSize: collectives.GroupSize + 64 + uintptr(n), NodeSize: perNode, Faults: loop.Faults{
		Drop: func(e loop.Event) bool {
			// The put of a signal comes with it; a wrapped one is one more. Only who has waited for long fetches.
			if e.Kind != loop.Put && e.Kind != loop.Fetch {
				sent[e.Source].Add(1)
			}
			return false
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	first := nodes(n, perNode)
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
			return c.call(collectives.New(symheap.NewWindow(d, ep, pe, n), 0, false, collectives.Choices{}, first, func() string { return "" }))
		})
	}
	if err := pes.Wait(); err != nil {
		t.Fatal(err)
	}
	for i := range sent {
		one := int(sent[i].Load())
		most, all = max(most, one), all+one
	}
	return most, all
}

func TestFar_CostGrowsWithTheLogarithm(t *testing.T) {
	for _, n := range []int{2, 3, 4, 7, 100, 1000, 10_000} {
		if race.Enabled && n > 100 {
			continue // the detector's goroutines are few
		}
		for _, c := range costs(t) {
			if n < c.from || n > 1000 && strings.HasPrefix(c.name, "collect") {
				continue // every member gets a block of each
			}
			most, all := c.count(t, n, 0)
			t.Logf("%s of %d members: at most %d messages of a member, %d in all", c.name, n, most, all)
			if limit := c.times*bits.Len(uint(n-1)) + c.extra; most > limit {
				t.Errorf("%s of %d members: a member sends %d messages, want at most %d", c.name, n, most, limit)
			}
		}
	}
}

// Between nodes only their leaders talk, so that the cost is that of as many members as there are nodes.
func TestLeaders_CostGrowsWithTheLogarithmOfTheNodes(t *testing.T) {
	if race.Enabled {
		t.Skip("the detector would not know the order that near members rely on, so none are")
	}
	for _, size := range []struct{ n, perNode int }{{2, 2}, {3, 2}, {7, 10}, {100, 2}, {100, 10}, {1000, 2}} {
		n, perNode := size.n, size.perNode
		for _, c := range costs(t)[:5] { // those that leaders do
			if n < c.from || n > 100 && c.name == "collect of equal blocks" {
				continue
			}
			most, all := c.count(t, n*perNode, perNode)
			t.Logf("%s of %d nodes of %d members: at most %d messages of a member, %d in all", c.name, n, perNode, most, all)
			if limit := c.times*bits.Len(uint(n-1)) + c.extra; most > limit || all > n*limit {
				t.Errorf("%s of %d nodes of %d members: a member sends %d messages, all %d, want at most %d and %d", c.name, n, perNode, most, all, limit, n*limit)
			}
		}
	}
}
