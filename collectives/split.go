// SPDX-License-Identifier: BSD-3-Clause

package collectives

import "encoding/binary"

// AgreeMask is Sync, and returns the bits that are set in every member's mask.
func (g *Group) AgreeMask(c Call, mask uint64) (uint64, error) {
	own := g.buffers()[:8]
	binary.NativeEndian.PutUint64(own, mask)
	err := g.combineAll(c, own, and[uint8])
	return binary.NativeEndian.Uint64(own), err
}

// A Pair is what each member gives to Pairs.
type Pair struct{ A, B int }

// Pairs is Sync, and returns every member's pair, in their order. Each member reads
// all others'. Another call of any kind has to follow before the next Pairs.
func (g *Group) Pairs(c Call, own Pair) ([]Pair, error) {
	const size = 16
	ep, at := g.w.Endpoint(), g.off+offPair
	buf := binary.NativeEndian.AppendUint64(nil, uint64(own.A))
	buf = binary.NativeEndian.AppendUint64(buf, uint64(own.B))
	if err := ep.Put(g.world(g.me), at, buf); err != nil {
		return nil, err
	}
	if err := ep.Quiet(); err != nil {
		return nil, err
	}
	if err := g.Sync(c); err != nil {
		return nil, err
	}
	all := make([]byte, size*g.n)
	for i := range g.n {
		q := (g.me + i) % g.n
		if err := ep.GetNBI(g.world(q), all[size*q:size*(q+1)], at); err != nil {
			return nil, err
		}
	}
	if err := ep.Quiet(); err != nil {
		return nil, err
	}
	pairs := make([]Pair, g.n)
	for q := range pairs {
		b := all[size*q:]
		pairs[q] = Pair{int(binary.NativeEndian.Uint64(b)), int(binary.NativeEndian.Uint64(b[8:]))}
	}
	return pairs, nil
}

// Leave is the last Sync of a group. On return the own words are zero again, and nobody
// reads or writes them any more: another group may have them.
//
// After the group's own algorithm, which finds out who is in another call, comes the
// dissemination barrier. There a member reads its own words only, and when it
// leaves it has got every message that is meant for it; all have entered, so nobody
// is still in a call before.
func (g *Group) Leave(c Call) error {
	if err := g.Sync(c); err != nil {
		return err
	}
	g.meet(c)
	if err := g.syncDissemination(c); err != nil {
		return err
	}
	ep := g.w.Endpoint()
	if err := ep.Put(g.world(g.me), g.off, make([]byte, GroupSize)); err != nil {
		return err
	}
	return ep.Quiet()
}
