// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"math/bits"

	"github.com/goshmem/goshmem/fabric"
)

// reduceHalving: after a synchronisation, recursive halving: in round r the members whose numbers differ in bit r
// share what both still work on: each keeps one half, fetches the other's of it, and combines them. Then
// each puts what it has back, round by round, at its place (Rabenseifner 2004). Each member fetches and puts
// less than its elements once; 2⌊log2 n⌋ messages wait for one another, and one before and one after for those
// beyond a power of two. All is done at Dst: what a member keeps nobody else reads, and what it gives away
// only one member reads, who puts the result there.
func (g *Group) reduceHalving(c Call, a Array, f fold) error {
	if err := g.Sync(c); err != nil || a.N == 0 {
		return err
	}
	elem := int(c.Elem)
	if a.Dst != a.Src {
		copyBlocks(g.ownBytes(a.Dst, a.N*elem), g.ownBytes(a.Src, a.N*elem))
	}
	all := 1 << (bits.Len(uint(g.n)) - 1)
	g.meet(c)
	if g.me >= all {
		if err := g.send(g.me-all, g.farSlot(g.before()), nil); err != nil {
			return err
		}
		g.meet(c)
		return g.arrived(c, g.farSlot(g.after()))
	}
	if g.me+all < g.n {
		if err := g.receive(c, g.before(), nil); err != nil {
			return err
		}
		if err := g.foldFrom(g.me+all, a.Dst, elem, span{0, a.N}, f); err != nil {
			return err
		}
	}
	var had [maxRounds]span // elements before each round
	now := span{0, a.N}
	for r, d := 0, 1; d < all; r, d = r+1, 2*d {
		if err := g.exchange(c, g.me^d, r, nil, nil); err != nil {
			return err
		}
		had[r] = now
		if half := (now[0] + now[1]) / 2; g.me&d == 0 {
			now[1] = half
		} else {
			now[0] = half
		}
		if err := g.foldFrom(g.me^d, a.Dst, elem, now, f); err != nil {
			return err
		}
	}
	g.meet(c)
	for r := bits.Len(uint(all)) - 2; r >= 0; r-- {
		if err := g.giveBack(g.me^1<<r, a.Dst, elem, now, g.farSlot(r)); err != nil {
			return err
		}
		if err := g.arrived(c, g.farSlot(r)); err != nil {
			return err
		}
		now = had[r]
	}
	if g.me+all < g.n {
		return g.giveBack(g.me+all, a.Dst, elem, now, g.farSlot(g.after()))
	}
	return nil
}

// foldFrom combines elements e[0] to e[1]-1 at off with those of member q, in the members' order.
func (g *Group) foldFrom(q int, off fabric.Addr, elem int, e span, f fold) error {
	per := min(cached/elem, e[1]-e[0])
	if len(g.fetched) < per*elem {
		g.fetched = make([]byte, per*elem)
	}
	for lo := e[0]; lo < e[1]; lo += per {
		size, at := min(per, e[1]-lo)*elem, off+uintptr(lo*elem)
		mine, theirs := g.ownBytes(at, size), g.fetched[:size]
		if err := g.fetch(q, theirs, at); err != nil {
			return err
		}
		if g.me < q {
			f(mine, theirs)
			continue
		}
		f(theirs, mine)
		copy(mine, theirs)
	}
	return nil
}

// giveBack puts elements e[0] to e[1]-1 at off at their place on member q, with their flag.
func (g *Group) giveBack(q int, off fabric.Addr, elem int, e span, slot uintptr) error {
	at := off + uintptr(e[0]*elem)
	return g.sendTo(q, at, g.ownBytes(at, (e[1]-e[0])*elem), slot)
}
