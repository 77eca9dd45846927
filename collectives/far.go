// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"math/bits"

	"github.com/goshmem/goshmem/fabric"
)

// syncDissemination: ⌈log2 n⌉ rounds; in round r a member signals the one 2^r
// above and waits for the one 2^r below (Hensgen, Finkel & Manber 1988): one
// message and one wait a round. The word that is sent holds the epoch and some
// bits of the call's digest. If not all calls are equal, some member's differs
// from its neighbour's; who sees that poisons everyone's words. Slots alternate
// by parity, so that a member that runs ahead by one epoch does not overwrite what
// others have yet to read.
func (g *Group) syncDissemination(c Call) error {
	ep := g.w.Endpoint()
	least := g.epoch << farDigest
	word := least | g.digest()>>(digestBits-farDigest)
	for r, d := 0, 1; d < g.n; r, d = r+1, 2*d {
		slot := g.farSlot(r)
		// An atomic maximum: a poisoned word stays poisoned.
		if err := ep.Atomic(g.world((g.me+d)%g.n), fabric.OpMax, fabric.Uint64, slot, word); err != nil {
			return err
		}
		if err := g.awaitOwn(slot, fabric.CmpGE, least); err != nil {
			return err
		}
		switch v := loadRelaxed(g.w.Own(slot), 0); {
		case v&poison != 0:
			return g.mismatch(c)
		case v != word:
			if err := g.poisonAll(); err != nil {
				return err
			}
			return g.mismatch(c)
		}
	}
	return nil
}

// syncStar: every member adds to a counter of member 0, which then signals each: 2(n-1) messages,
// where dissemination has n log2 n. Where processes take turns on few cores their
// number is what counts. The counter adds up calls as in syncCentral, the signal
// is a word as in syncDissemination.
func (g *Group) syncStar(c Call) error {
	ep, slot := g.w.Endpoint(), g.farSlot(0)
	word := g.epoch<<farDigest | g.digest()>>(digestBits-farDigest)
	one := 1 + g.digest()<<20
	if g.me != 0 {
		if err := ep.Atomic(g.world(0), fabric.OpSum, fabric.Uint64, g.off+offCount, one); err != nil {
			return err
		}
		if err := g.awaitOwn(slot, fabric.CmpGE, g.epoch<<farDigest); err != nil {
			return err
		}
		if loadRelaxed(g.w.Own(slot), 0)&poison != 0 {
			return g.mismatch(c)
		}
		return nil
	}
	before, others := g.total, uint64(g.n-1)
	g.total += others * one
	now := before
	for (now-before)&(1<<20-1) != others {
		if err := g.awaitOwn(g.off+offCount, fabric.CmpNE, now); err != nil {
			return err
		}
		now = loadRelaxed(g.w.Own(g.off+offCount), 0)
	}
	if now != g.total {
		word = poison
	}
	for q := 1; q < g.n; q++ {
		if err := ep.Atomic(g.world(q), fabric.OpMax, fabric.Uint64, slot, word); err != nil {
			return err
		}
	}
	if now != g.total {
		return g.mismatch(c)
	}
	return nil
}

// awaitOwn waits for a word of the own segment that others write through endpoints.
func (g *Group) awaitOwn(off uintptr, cmp fabric.Cmp, v uint64) error {
	return g.w.Domain().Wait(fabric.Cond{PE: g.world(g.me), Off: off, Type: fabric.Uint64, Cmp: cmp, Value: v, System: true})
}

// far reports whether members talk through the endpoint.
func (g *Group) far() bool { return g.how >= dissemination }

// farSlot returns where the word of round r of this epoch is.
func (g *Group) farSlot(r int) uintptr {
	return g.off + offRounds + uintptr(r)*128 + uintptr(g.epoch&1)*64
}

// poisonAll ends this epoch's waits of all members. Those who are still in the
// epoch before use the other slots: they complete it, and then learn.
func (g *Group) poisonAll() error {
	ep := g.w.Endpoint()
	for q := range g.n {
		for r := range bits.Len(uint(g.n - 1)) {
			if err := ep.Atomic(g.world(q), fabric.OpMax, fabric.Uint64, g.farSlot(r), poison); err != nil {
				return err
			}
		}
	}
	return ep.Quiet()
}
