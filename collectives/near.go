// SPDX-License-Identifier: BSD-3-Clause

package collectives

import "github.com/goshmem/goshmem/fabric"

// syncFlat: every member stores its epoch in its own slot and reads all
// others': one line transfer each way, n-1 reads a member, no read-modify-write.
func (g *Group) syncFlat(c Call, payload []byte) error {
	sig, slot := g.digest(), g.slot()
	own := g.w.Own(slot)
	if len(payload) > 0 {
		copy(g.ownBytes(slot+slotHeader, len(payload)), payload)
	}
	storeSecond(own, sig)
	storeRelease(own, g.epoch)
	g.w.Domain().Wake(-1)
	for i := 1; i < g.n; i++ {
		q := g.me + i
		if q >= g.n {
			q -= g.n
		}
		p := g.w.Data(q, slot, live)
		if err := g.await(p, q, slot); err != nil {
			return err
		}
		if loadRelaxed(p, 8) != sig {
			return g.mismatch(c)
		}
	}
	return nil
}

// syncCentral: each member adds one to a counter, the last one publishes the
// epoch: one read-modify-write and one line transfer a member. On a node with
// more PEs than cores every round of an algorithm is a rotation of processes,
// and this has one.
//
// The counter's high 44 bits add up the calls' digests, so that the last one
// sees by one comparison whether all calls were equal.
func (g *Group) syncCentral(c Call, payload []byte) error {
	if len(payload) > 0 {
		copy(g.ownBytes(g.slot()+slotHeader, len(payload)), payload)
	}
	g.mark() // for who is in a broadcast, and looks at slots
	one := 1 + g.digest()<<20
	before := g.total
	g.total += uint64(g.n) * one
	epoch := g.w.Data(0, g.off+offEpoch, live)
	now := addWord(g.w.Data(0, g.off+offCount, live), one)
	if (now-before)&(1<<20-1) == uint64(g.n) {
		if now != g.total {
			storeFenced(epoch, poison|g.closed+1)
			g.w.Domain().Wake(-1)
			return g.mismatch(c)
		}
		storeFenced(epoch, g.epoch)
		g.w.Domain().Wake(-1)
		g.closed = g.epoch
		return nil
	}
	if err := g.awaitAll(epoch, 0, g.off+offEpoch, 0, g.n); err != nil {
		return err
	}
	if v := loadRelaxed(epoch, 0); v&poison != 0 && v&^poison <= g.epoch {
		return g.mismatch(c)
	}
	g.closed = g.epoch
	return nil
}

// slot returns where the slot of this epoch is, on every member.
func (g *Group) slot() uintptr { return g.off + offSlots + uintptr(g.epoch%slotRing)*slotSize }

// show stores payload in the own slot of this epoch, for near members to await.
func (g *Group) show(payload []byte) {
	slot := g.slot()
	own := g.w.Own(slot)
	if len(payload) > 0 {
		copy(g.ownBytes(slot+slotHeader, len(payload)), payload)
	}
	storeSecond(own, g.digest())
	storeFenced(own, g.epoch)
	g.w.Domain().Wake(-1)
}

// mark is show for members whom only those wait for who are in another call. It wakes
// nobody: they look again by themselves.
func (g *Group) mark() {
	own := g.w.Own(g.slot())
	storeSecond(own, g.digest())
	storeRelease(own, g.epoch)
}

// awaitShown waits for what near member q shows in this epoch.
func (g *Group) awaitShown(q int, c Call) error {
	slot := g.slot()
	p := g.w.Data(q, slot, live)
	if err := g.await(p, q, slot); err != nil {
		return err
	}
	if loadRelaxed(p, 8) != g.digest() {
		return g.mismatch(c)
	}
	return nil
}

// carried returns the n bytes that near member q shows in this epoch.
func (g *Group) carried(q, n int) []byte { return g.bytesAt(q, g.slot()+slotHeader, n) }

// poisonNear ends the waits of near members for this one, from this epoch on: who is
// still in an epoch before that all have come to completes it, and then learns.
func (g *Group) poisonNear() {
	for e := g.epoch; e < g.epoch+slotRing-1; e++ {
		own := g.w.Own(g.off + offSlots + uintptr(e%slotRing)*slotSize)
		storeSecond(own, 0)
		storeFenced(own, poison|g.epoch)
	}
	if g.how == central {
		storeFenced(g.w.Data(0, g.off+offEpoch, live), poison|g.closed+1)
	}
	g.w.Domain().Wake(-1)
}

// await waits for a near word of member q's, which q sets to this epoch once it has entered it.
func (g *Group) await(p pointer, q int, off uintptr) error {
	return g.awaitAll(p, q, off, q, 1)
}

// awaitAll is await for a word that is set once n members from the first on have entered.
func (g *Group) awaitAll(p pointer, q int, off uintptr, first, n int) error {
	if g.cores {
		if came, err := g.takeTurns(p, first, n); came || err != nil {
			return err
		}
	} else if spinUntil(p, g.epoch, g.w.Spin()) {
		return nil
	}
	return g.w.Domain().Wait(fabric.Cond{PE: g.world(q), Off: off, Type: fabric.Uint64, Cmp: fabric.CmpGE, Value: g.epoch, System: true})
}
