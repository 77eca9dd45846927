// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"math/bits"
	"sync"
	"time"

	"github.com/goshmem/goshmem/fabric"
)

// broadcastRelay: down a binomial tree, the elements and their flag in one message, which each member
// passes on as soon as it has it: ⌈log2 n⌉ messages one after the other, n-1 in all, and none
// back. The root waits for nobody. What a member has yet to read is kept apart by a ring of slots,
// of which leave sees that nobody is a round ahead.
func (g *Group) broadcastRelay(c Call, dst, src fabric.Addr, size, root int) error {
	if err := g.leave(c); err != nil {
		return err
	}
	v, top, from := (g.me-root+g.n)%g.n, 1<<bits.Len(uint(g.n-1)), g.ownBytes(src, size)
	if v != 0 {
		top, from = v&-v, g.ownBytes(dst, size)
		if err := g.relayed(c, (g.me-top+g.n)%g.n, from); err != nil {
			return err
		}
	}
	for d := top / 2; d > 0; d /= 2 { // the largest part first
		if v+d < g.n {
			if err := g.send((g.me+d)%g.n, g.relaySlot(), from); err != nil {
				return err
			}
		}
	}
	if v == 0 && dst != src {
		copy(g.ownBytes(dst, size), from)
	}
	return nil
}

// relaySlot returns where the message of this epoch is.
func (g *Group) relaySlot() uintptr { return g.relays + uintptr(g.epoch%slotRing)*relaySize }

// relayed waits for the message from parent.
func (g *Group) relayed(c Call, parent int, payload []byte) error {
	g.watch.begin(g, parent)
	v, err := g.notified(g.relaySlot(), g.epoch)
	g.watch.end()
	switch {
	case err != nil:
		return err
	case v != g.farWord():
		return g.disagree(c)
	}
	return g.payload(g.relaySlot(), payload)
}

// disagree ends the waits of members that synchronise next, and returns the error. Those who wait for
// a relayed message find out by themselves.
func (g *Group) disagree(c Call) error {
	g.met++
	if err := g.poisonAll(); err != nil {
		return err
	}
	return g.mismatch(c)
}

// A watch looks after a member that waits for a relayed message, and has sent none itself: if its parent is in
// another call, or waits for it, neither would ever hear of the other. So each far member
// keeps what it sends as farWord of its last calls where others can read it, and who has waited for long
// compares its parent's with its own, now and then.
type watch struct {
	looking sync.WaitGroup

	mu    sync.Mutex
	timer *time.Timer
	wait  relayWait // zero if there is none
	pause time.Duration
}

// A relayWait is a wait for a relayed message.
type relayWait struct {
	epoch  uint64 // of the group
	whole  uint64 // of the group whose part it is
	parent int
}

const (
	firstLook = 10 * time.Millisecond
	lastLook  = time.Second
)

// begin begins a wait.
func (w *watch) begin(g *Group, parent int) {
	whole := g
	if g.whole != nil {
		whole = g.whole
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wait, w.pause = relayWait{g.epoch, whole.epoch, parent}, firstLook
	if w.timer == nil {
		w.timer = time.AfterFunc(w.pause, func() { w.look(g) })
		return
	}
	w.timer.Reset(w.pause)
}

// end ends it. A look that is under way is waited for: afterwards the team may be destroyed,
// and the endpoint closed.
func (w *watch) end() {
	w.mu.Lock()
	w.wait = relayWait{}
	w.timer.Stop()
	w.mu.Unlock()
	w.looking.Wait()
}

// look poisons the word that is waited for if it will not come.
func (w *watch) look(g *Group) {
	wait, own := w.now(g)
	if wait.epoch == 0 {
		return
	}
	defer w.looking.Done()
	differs := g.parentDiffers(wait, own)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.wait != wait:
	case differs:
		slot := g.w.Own(g.relaySlot()) // the epoch stands still as long as the wait lasts
		storeSecond(slot, poison)
		storeFenced(slot, poison)
		g.w.Domain().Wake(g.world(g.me))
	default:
		w.pause = min(2*w.pause, lastLook)
		w.timer.Reset(w.pause)
	}
}

// now returns the present wait, if there is one, and the own last calls' words, and counts a look.
func (w *watch) now(g *Group) (wait relayWait, own [slotRing]uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait.epoch == 0 {
		return relayWait{}, own
	}
	for i := range own {
		own[i] = loadRelaxed(g.w.Own(g.callWord(uint64(i))), 0)
	}
	w.looking.Add(1) // end has not begun
	return w.wait, own
}

// parentDiffers reports whether the parent's calls are others than the own, as far as both have come, or
// it has got that as an error. A failure to read them says nothing: the wait will end with it.
func (g *Group) parentDiffers(w relayWait, own [slotRing]uint64) bool {
	pe := g.world(w.parent)
	read := func(off uintptr) uint64 {
		v, err := g.w.Endpoint().FetchAtomic(pe, fabric.OpRead, fabric.Uint64, off, 0, 0)
		if err != nil {
			return 0
		}
		return v
	}
	for e := w.epoch; e > 0 && e+slotRing > w.epoch; e-- {
		theirs := read(g.callWord(e))
		if theirs>>farDigest != e {
			continue // it has not come there
		}
		if theirs != own[e%slotRing] {
			return true
		}
		break
	}
	ended := read(g.off + offReport)
	return ended != 0 && ended <= w.whole
}

// callWord returns where members keep the farWord of an epoch.
func (g *Group) callWord(epoch uint64) uintptr { return g.calls + uintptr(epoch%slotRing)*8 }
