// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"math"
	"slices"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/symheap"
)

// Members of a far group that share a node talk to each other by loads and stores, and the first of
// them, their leader, talks to those of other nodes: messages grow with the logarithm of the
// number of nodes, whatever PEs each has.
//
// For that a group has two others as its parts, with words of their own: the members of the
// node, which are near, and on leaders that of all leaders, which is far. Every collective starts in the
// same way, so that members in different ones find out: the members of a node show their calls to
// their leader, and the leaders synchronise, or do what starts as that does.

// divide sets g's parts if the members that share a node are neighbours in g, at equal distances in
// the world, on every node, and there is more than one node, and one with several members.
func (g *Group) divide(nodes []int) {
	first, node := leadersOf(g.w.Members(), nodes, g.me)
	if first == nil {
		return
	}
	lo, end := first[node], g.n
	if node+1 < len(first) {
		end = first[node+1]
	}
	g.node = g.part(g.w.Run(lo, end-lo))
	if g.me != lo {
		return
	}
	g.first = first
	world := make([]int, len(first))
	for i, q := range first {
		world[i] = g.world(q)
	}
	g.lead = g.part(g.w.Far(symheap.Listed(world), node))
	g.lead.isFar = true
	g.lead.flags, g.lead.rounds, g.lead.slots = g.off+offLeadFlags, g.off+offLeadRounds, leadRounds
	g.lead.relays, g.lead.calls = g.off+offLeadRelays, g.off+offLeadCalls
	g.lead.Choose(Choices{})
}

// part returns a group of some of g's members, which is near.
func (g *Group) part(w *symheap.Window) *Group {
	p := &Group{w: w, me: w.Me(), n: w.NPEs(), off: g.off, whole: g, site: g.site}
	p.Choose(Choices{})
	return p
}

// leadersOf returns which members are the first of their nodes, and the number among them of me's node; or
// nil, see divide. All members find the same.
func leadersOf(m symheap.Members, nodes []int, me int) (first []int, node int) {
	if len(nodes) < 2 {
		return nil, 0
	}
	seen := make(map[int]bool)
	lo, hi := 0, 0 // PEs of the last member's node
	for q := range m.NPEs() {
		pe := m.World(q)
		if pe >= lo && pe < hi {
			before := first[len(first)-1]
			if q > before+1 && pe-m.World(q-1) != m.World(before+1)-m.World(before) {
				return nil, 0
			}
		} else {
			k, found := slices.BinarySearch(nodes, pe)
			if !found {
				k--
			}
			if seen[k] {
				return nil, 0
			}
			seen[k] = true
			if lo, hi = nodes[k], math.MaxInt; k+1 < len(nodes) {
				hi = nodes[k+1]
			}
			first = append(first, q)
		}
		if q == me {
			node = len(first) - 1
		}
	}
	if len(first) < 2 || len(first) == m.NPEs() {
		return nil, 0
	}
	return first, node
}

// up: the members of a node show their call and payload, of at most mostCarry bytes, to their leader, who
// waits for all of them.
func (g *Group) up(c Call, payload []byte) error {
	n := g.node
	n.ahead = 0 // all members' calls of up and down follow one another
	n.next(c)
	if n.me != 0 {
		n.show(payload)
		return nil
	}
	for q := 1; q < n.n; q++ {
		if err := n.awaitShown(q, c); err != nil {
			return err
		}
	}
	return nil
}

// down: the leader of a node shows payload, for which the others wait. Since up comes before it, all have
// come.
func (g *Group) down(c Call, payload []byte) error {
	n := g.node
	n.next(c)
	if n.me == 0 {
		n.show(payload)
		return nil
	}
	return n.awaitShown(0, c)
}

// syncLeaders: the members of each node tell their leader, the leaders synchronise, and tell the
// others: a store and a load of each member, and ⌈log2⌉ of the number of nodes messages of each leader.
func (g *Group) syncLeaders(c Call) error {
	if err := g.up(c, nil); err != nil {
		return err
	}
	if g.lead != nil {
		if err := g.lead.Sync(c); err != nil {
			return err
		}
	}
	return g.down(c, nil)
}

// begin begins a collective of the parts that nobody leaves before all have come.
func (g *Group) begin(c Call) error {
	if err := g.gather(c); err != nil {
		return err
	}
	g.meet(c)
	return nil
}

// gather comes before a collective of the parts: where the group's synchronisations are not by leaders, it
// is one, for those who are in one.
func (g *Group) gather(c Call) error {
	if g.how == leaders {
		return nil
	}
	return g.Sync(c)
}

// reduceLeaders: the members of each node combine what they have: a little is shown to the leader, of more
// each member combines one part and stores it there. The leaders reduce that, and the others copy it.
func (g *Group) reduceLeaders(c Call, a Array, f fold) error {
	if err := g.begin(c); err != nil {
		return err
	}
	size := a.N * int(c.Elem)
	if size > mostCarry {
		return g.reduceLeadersLarge(c, a, f)
	}
	own, dst, n := g.ownBytes(a.Src, size), g.ownBytes(a.Dst, size), g.node
	if err := g.up(c, own); err != nil {
		return err
	}
	if g.lead != nil {
		copy(dst, own)
		for q := 1; q < n.n && size > 0; q++ {
			f(dst, n.carried(q, size))
		}
		a.Src = a.Dst
		if err := g.lead.reduce(c, a, f); err != nil {
			return err
		}
	}
	if err := g.down(c, dst); err != nil {
		return err
	}
	if g.lead == nil {
		copy(dst, n.carried(0, size))
	}
	return nil
}

// combineAll combines a few bytes of all members, at most mostFar. It is a Sync.
func (g *Group) combineAll(c Call, mine []byte, f fold) error {
	switch {
	case !g.far():
		if err := g.carry(c, mine); err != nil {
			return err
		}
		g.foldCarried(mine, f)
		return nil
	case g.how != leaders:
		return g.reduceDoubling(c, mine, f)
	}
	g.meet(c)
	n := g.node
	if err := g.up(c, mine); err != nil {
		return err
	}
	if g.lead != nil {
		for q := 1; q < n.n; q++ {
			f(mine, n.carried(q, len(mine)))
		}
		if err := g.lead.reduceDoubling(c, mine, f); err != nil {
			return err
		}
	}
	if err := g.down(c, mine); err != nil {
		return err
	}
	if g.lead == nil {
		copy(mine, n.carried(0, len(mine)))
	}
	return nil
}

func (g *Group) reduceLeadersLarge(c Call, a Array, f fold) error {
	if err := g.up(c, nil); err != nil {
		return err
	}
	if err := g.down(c, nil); err != nil {
		return err
	}
	n := g.node
	lo, hi := share(a.N, n.me, n.n)
	err := n.inBlocks(int(c.Elem), lo, hi, func(off uintptr, result []byte) error {
		if err := n.combine(result, a.Src+off, f); err != nil {
			return err
		}
		return n.store(0, a.Dst+off, result)
	})
	if err != nil {
		return err
	}
	if err := g.up(c, nil); err != nil {
		return err
	}
	if g.lead != nil {
		a.Src = a.Dst
		if err := g.lead.reduce(c, a, f); err != nil {
			return err
		}
	}
	return n.broadcastShown(c, a.Dst, a.Dst, a.N*int(c.Elem), 0)
}

// broadcastLeaders: the root's elements come to its leader, the leaders broadcast them, and the others copy
// them. The root waits for nobody beyond its node, if there is little.
func (g *Group) broadcastLeaders(c Call, dst, src fabric.Addr, size, root int) error {
	if err := g.gather(c); err != nil {
		return err
	}
	if err := g.leave(c); err != nil {
		return err
	}
	n, carries := g.node, size <= mostCarry
	var payload []byte
	if carries && g.me == root {
		payload = g.ownBytes(src, size)
	}
	if err := g.up(c, payload); err != nil {
		return err
	}
	own := g.ownBytes(dst, size)
	if g.lead != nil {
		node, found := slices.BinarySearch(g.first, root)
		if !found {
			node--
		}
		if node == g.lead.me {
			switch {
			case root == g.me:
				copyBlocks(own, g.ownBytes(src, size))
			case carries:
				copy(own, n.carried(root-g.me, size))
			default:
				copyBlocks(own, n.bytesAt(root-g.me, src, size))
			}
		}
		if err := g.lead.broadcast(c, dst, dst, size, node); err != nil {
			return err
		}
	}
	if !carries {
		return n.broadcastShown(c, dst, dst, size, 0)
	}
	if err := g.down(c, own); err != nil {
		return err
	}
	if g.lead == nil {
		copy(own, n.carried(0, size))
	}
	return nil
}

// collectLeaders: the members of each node store their blocks to their leader, the leaders collect them, and
// the others copy all.
func (g *Group) collectLeaders(c Call, dst, src fabric.Addr, size int) error {
	if err := g.begin(c); err != nil {
		return err
	}
	if err := g.node.store(0, dst+uintptr(g.me*size), g.ownBytes(src, size)); err != nil {
		return err
	}
	if err := g.up(c, nil); err != nil {
		return err
	}
	if g.lead != nil {
		at := func(node int) int {
			if node == len(g.first) {
				return g.n * size
			}
			return g.first[node] * size
		}
		if err := g.lead.collectRounds(c, dst, at); err != nil {
			return err
		}
	}
	return g.node.broadcastShown(c, dst, dst, g.n*size, 0)
}

// mismatchIn tells the members beyond a part of a mismatch that was found there, and returns the
// error.
func (g *Group) mismatchIn(part *Group, c Call) error {
	if g.lead != nil && part != g.lead {
		g.lead.meet(c) // where the leaders wait or will
		if err := g.lead.poisonAll(); err != nil {
			return err
		}
	}
	g.node.poisonNear()
	return g.mismatch(c)
}
