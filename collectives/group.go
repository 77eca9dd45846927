// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"math/bits"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/symheap"
)

// Where the words of a group lie, from its offset in each member's segment on.
// What others write is on lines of its own.
const (
	offCount  = 0    // on member 0: arrivals, and the sum of their calls' digests
	offEpoch  = 128  // on member 0: synchronisations completed
	offFail   = 256  // on member 0: two words, one for each parity of Agree
	offReport = 384  // set once offText holds what this member called
	offFlat   = 512  // two slots of (epoch, digest), 128 bytes apart
	offText   = 1024 // what this member called and where, for a mismatch's report
	offRounds = 2048 // dissemination: for each round two words of epoch and digest, 64 bytes apart

	textSize  = 1024
	maxRounds = 32

	// GroupSize is the size of a group's words in bytes.
	GroupSize = offRounds + maxRounds*2*64
)

const (
	// poison in an epoch word says that the members called different collectives.
	poison = 1 << 63

	// farDigest is how many bits of a call's digest travel between far members,
	// below the epoch: enough to tell calls apart, and to leave room for a barrier
	// every microsecond for a hundred days.
	farDigest = 20
)

// A Group is one member's part in a group of PEs that synchronise and
// communicate together. One collective at a time: callers serialise.
type Group struct {
	// Set by New; read-only afterwards.
	w     *symheap.Window
	me, n int
	off   uintptr       // of the group's words, the same on every member
	how   algorithm     // of Sync
	site  func() string // where the program called the collective

	// Owned by the caller of the current collective.
	epoch  uint64 // synchronisations entered
	total  uint64 // what offCount holds when this epoch is complete
	agreed uint64 // Agree calls

	scratch []byte // two blocks of a reduction
}

type algorithm uint8

const (
	flat          algorithm = iota // each tells each: near, no more PEs than cores
	central                        // one counter, one epoch: near
	dissemination                  // in rounds, each tells one: through the endpoint
	star                           // each tells member 0, which tells each: through the endpoint, more PEs than cores
)

// mostStar is how many members a star may have: all messages go to or come from one.
const mostStar = 16

// New returns the group of all PEs of w, a window of the world or of a team; every
// number of a PE in this package is the group's own, but in a [MismatchError]. off is where its GroupSize bytes lie
// in every member's segment, zero before first use. crowded is the same on every member. site returns the place in the
// user's program that called the collective, for reports.
func New(w *symheap.Window, off uintptr, crowded bool, site func() string) *Group {
	g := &Group{w: w, me: w.Me(), n: w.NPEs(), off: off, site: site}
	switch {
	case !w.AllNear() && crowded && 2 < g.n && g.n <= mostStar:
		g.how = star
	case !w.AllNear():
		g.how = dissemination
	case crowded || g.n > 8:
		g.how = central
	default:
		g.how = flat
	}
	return g
}

// world returns the world's number of member q, which the endpoint takes.
func (g *Group) world(q int) int { return g.w.World(q) }

// NPEs returns the number of members.
func (g *Group) NPEs() int { return g.n }

// Me returns the caller's number in the group.
func (g *Group) Me() int { return g.me }

// Window returns the group's window.
func (g *Group) Window() *symheap.Window { return g.w }

// Quiet completes every operation on the group's window and orders all direct
// stores.
func (g *Group) Quiet() error {
	if g.far() {
		return g.w.Endpoint().Quiet()
	}
	g.w.Fence()
	return nil
}

// Sync returns once every member has called it with an equal call. Direct
// stores before it are visible to all after it; operations on an endpoint are
// not completed. If the calls differ, every member gets a *[MismatchError].
func (g *Group) Sync(c Call) error {
	g.epoch++
	switch g.how {
	case flat:
		return g.syncFlat(c)
	case central:
		return g.syncCentral(c)
	case star:
		return g.syncStar(c)
	default:
		return g.syncDissemination(c)
	}
}

// Agree is Sync, and reports whether any member called it with failed.
func (g *Group) Agree(c Call, failed bool) (anyFailed bool, err error) {
	g.agreed++
	word := g.off + offFail + uintptr(g.agreed&1)*8
	if failed {
		if err := g.w.Endpoint().Atomic(g.world(0), fabric.OpWrite, fabric.Uint64, word, g.agreed); err != nil {
			return true, err
		}
	}
	if err := g.Quiet(); err != nil {
		return true, err
	}
	if err := g.Sync(c); err != nil {
		return true, err
	}
	v, err := g.w.Endpoint().FetchAtomic(g.world(0), fabric.OpRead, fabric.Uint64, word, 0, 0)
	return v == g.agreed, err
}

// syncFlat: every member stores its epoch in its own slot and reads all
// others': one line transfer each way, n-1 reads a member, no read-modify-write.
// Slots alternate, so that a member that runs ahead by one epoch does not
// overwrite the digest that others have yet to compare.
func (g *Group) syncFlat(c Call) error {
	sig, slot := c.sign(), g.off+offFlat+uintptr(g.epoch&1)*128
	own := g.w.Own(slot)
	storeRelaxed(own, 8, sig)
	storeRelease(own, g.epoch)
	g.w.Domain().Wake(-1)
	for i := 1; i < g.n; i++ {
		q := g.me + i
		if q >= g.n {
			q -= g.n
		}
		p := g.w.Data(q, slot, live)
		if err := g.await(p, q, slot, g.epoch); err != nil {
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
func (g *Group) syncCentral(c Call) error {
	one := 1 + c.sign()<<20
	before := g.total
	g.total += uint64(g.n) * one
	epoch := g.w.Data(0, g.off+offEpoch, live)
	now := addWord(g.w.Data(0, g.off+offCount, live), one)
	if (now-before)&(1<<20-1) == uint64(g.n) {
		if now != g.total {
			storeFenced(epoch, poison|g.epoch)
			g.w.Domain().Wake(-1)
			return g.mismatch(c)
		}
		storeFenced(epoch, g.epoch)
		g.w.Domain().Wake(-1)
		return nil
	}
	if err := g.await(epoch, 0, g.off+offEpoch, g.epoch); err != nil {
		return err
	}
	if loadRelaxed(epoch, 0)&poison != 0 {
		return g.mismatch(c)
	}
	return nil
}

// await spins on a near word and then waits for it.
func (g *Group) await(p pointer, pe int, off uintptr, epoch uint64) error {
	if spinUntil(p, epoch, g.w.Spin()) {
		return nil
	}
	return g.w.Domain().Wait(fabric.Cond{PE: g.world(pe), Off: off, Type: fabric.Uint64, Cmp: fabric.CmpGE, Value: epoch, System: true})
}

// syncDissemination: ⌈log2 n⌉ rounds; in round r a member signals the one 2^r
// above and waits for the one 2^r below (Hensgen, Finkel & Manber 1988): one
// message and one wait a round. The word that is sent holds the epoch and some
// bits of the call's digest. If not all calls are equal, some member's differs
// from its neighbour's; who sees that poisons everyone's words. Slots alternate
// as in syncFlat.
func (g *Group) syncDissemination(c Call) error {
	ep := g.w.Endpoint()
	least := g.epoch << farDigest
	word := least | c.sign()>>(signBits-farDigest)
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
	word := g.epoch<<farDigest | c.sign()>>(signBits-farDigest)
	one := 1 + c.sign()<<20
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
