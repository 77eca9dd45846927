// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"github.com/goshmem/goshmem/fabric"
)

// syncDissemination: ⌈log2 n⌉ rounds; in round r a member notifies the one 2^r
// above and waits for the one 2^r below (Hensgen, Finkel & Manber 1988): one
// message and one wait a round. The word that is sent holds the epoch and some
// bits of the call's digest. If not all calls are equal, some member's differs
// from its neighbour's; who sees that poisons everyone's words. Slots alternate
// by parity, so that a member that runs ahead by one epoch does not overwrite what
// others have yet to read.
func (g *Group) syncDissemination(c Call) error {
	for r, d := 0, 1; d < g.n; r, d = r+1, 2*d {
		if err := g.exchange(c, (g.me+d)%g.n, r, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// syncStar: every member notifies member 0, which then notifies each: 2(n-1) messages,
// where dissemination has n log2 n. Where processes take turns on few cores their
// number is what counts. Words are as in syncDissemination.
func (g *Group) syncStar(c Call) error {
	word := g.farWord()
	if g.me != 0 {
		if err := g.send(0, g.farSlot(g.me), nil); err != nil {
			return err
		}
		v, err := g.notified(g.farSlot(0), g.since)
		if err == nil && v&poison != 0 {
			err = g.mismatch(c)
		}
		return err
	}
	equal := true
	for q := 1; q < g.n; q++ {
		v, err := g.notified(g.farSlot(q), g.since)
		if err != nil {
			return err
		}
		equal = equal && v == word
	}
	if !equal {
		word = poison
	}
	for q := 1; q < g.n; q++ {
		if err := g.note(q, g.farSlot(0), word); err != nil {
			return err
		}
	}
	if !equal {
		return g.mismatch(c)
	}
	return nil
}

// note sends a word without payload.
func (g *Group) note(q int, slot uintptr, word uint64) error {
	g.words[0], g.words[1] = word, word
	return g.w.Endpoint().Notify(g.world(q), slot, g.words[:farHeader])
}

// farWord returns what far members send in this epoch.
func (g *Group) farWord() uint64 {
	return g.epoch<<farDigest | g.digest()>>(digestBits-farDigest)
}

// notified waits for a word of an epoch from since on, which comes twice, and returns it. If all calls are
// equal, it is this epoch's.
func (g *Group) notified(slot uintptr, since uint64) (uint64, error) {
	least := since << farDigest
	for _, off := range [...]uintptr{slot + 8, slot} { // the second mostly comes last
		if err := g.awaitOwn(off, fabric.CmpGE, least); err != nil {
			return 0, err
		}
	}
	for p := g.w.Own(slot); ; {
		a, b := loadRelaxed(p, 0), loadRelaxed(p, 8)
		if a == b || (a|b)&poison != 0 {
			return a | b, nil
		}
		if err := g.w.Endpoint().Progress(); err != nil { // a piece of one is missing
			return 0, err
		}
	}
}

// awaitOwn waits for a word of the own segment that others write through endpoints.
func (g *Group) awaitOwn(off uintptr, cmp fabric.Cmp, v uint64) error {
	return g.w.Domain().Wait(fabric.Cond{PE: g.world(g.me), Off: off, Type: fabric.Uint64, Cmp: cmp, Value: v, System: true})
}

// far reports whether members talk through the endpoint.
func (g *Group) far() bool { return g.isFar }

// farSlot returns where the words of round r of this epoch are. Two sets alternate from one epoch in which
// all meet to the next.
func (g *Group) farSlot(r int) uintptr {
	return g.rounds + uintptr(r)*roundSize + uintptr(g.met&1)*(roundSize/2)
}

// flag returns where a flag of this epoch is, for what is put to its place.
func (g *Group) flag() uintptr { return g.flags + uintptr(g.epoch%slotRing)*8 }

// poisonAll ends this epoch's waits of all members. Those who are still in the
// epoch before use the other slots: they complete it, and then learn. A word that comes
// late may take the poison's place, but not in every slot of a member: whoever got all of
// them would have heard, by way of others, from all members that their calls are equal.
func (g *Group) poisonAll() error {
	for q := range g.n {
		for r := range g.firstSlots() {
			if err := g.note(q, g.farSlot(r), poison); err != nil {
				return err
			}
		}
	}
	return nil
}
