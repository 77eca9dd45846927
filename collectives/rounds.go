// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"encoding/binary"
	"math/bits"

	"github.com/goshmem/goshmem/fabric"
)

// A far message is a few words in a slot of the receiver's: farWord, twice, and up to
// mostFar bytes of payload, 4 in each word, below 32 bits of the epoch. So each word
// says by itself whether it has come, and all travel in one message, in no order
// (NCCL calls this LL). To be taken for a new one, a word would have to be 2^32
// collectives old. A payload of up to mostNoted bytes comes twice, for then nobody has to answer
// the message: see [fabric.Notifier].
const (
	farWords  = 64 / 8
	farHeader = 2 // words
	mostFar   = 4 * (farWords - farHeader)
	mostNoted = 8
)

// mostFlags is how many members' flags have slots of their own, and one.
const mostFlags = maxRounds - 2

// before and after are the slots for what precedes and follows the rounds among a power of two
// of members.
func (g *Group) before() int { return g.slots - 1 }
func (g *Group) after() int  { return g.slots - 2 }

// firstSlots returns how many slots the first message may come in.
func (g *Group) firstSlots() int {
	if g.n <= g.slots-2 {
		return g.slots
	}
	return bits.Len(uint(g.n - 1))
}

// send sends payload to member q.
func (g *Group) send(q int, slot uintptr, payload []byte) error {
	g.words[0], g.words[1] = g.farWord(), g.farWord()
	n, answered := farHeader, len(payload) > mostNoted
	for len(payload) > 0 {
		var b [4]byte
		payload = payload[copy(b[:], payload):]
		g.words[n] = g.epoch<<32 | uint64(binary.NativeEndian.Uint32(b[:]))
		n++
	}
	if answered {
		return g.w.Endpoint().PutWords(g.world(q), slot, g.words[:n])
	}
	n += copy(g.words[n:], g.words[farHeader:n])
	return g.w.Endpoint().Notify(g.world(q), slot, g.words[:n])
}

// sendTo puts src at dst of member q and then farWord, once, in its slot; see arrived. Who
// waits for a message would not see it, so the members synchronise before.
func (g *Group) sendTo(q int, dst fabric.Addr, src []byte, slot uintptr) error {
	return g.w.Endpoint().PutSignal(g.world(q), dst, src, slot, fabric.OpWrite, g.farWord())
}

// arrived waits for what a member sends to its place.
func (g *Group) arrived(c Call, slot uintptr) error {
	if err := g.awaitOwn(slot, fabric.CmpGE, g.epoch<<farDigest); err != nil {
		return err
	}
	return g.judge(c, loadRelaxed(g.w.Own(slot), 0))
}

// judge returns an error unless a member that sent v is in the same call.
func (g *Group) judge(c Call, v uint64) error {
	switch {
	case v&poison != 0:
		return g.mismatch(c)
	case v != g.farWord():
		if err := g.poisonAll(); err != nil {
			return err
		}
		return g.mismatch(c)
	}
	return nil
}

// receive waits for a message of this epoch in the own slot of a round.
func (g *Group) receive(c Call, round int, payload []byte) error {
	v, err := g.notified(g.farSlot(round), g.since)
	if err != nil {
		return err
	}
	if err := g.judge(c, v); err != nil {
		return err
	}
	return g.payload(g.farSlot(round), payload)
}

// payload waits for the payload of the message of this epoch in slot.
func (g *Group) payload(slot uintptr, payload []byte) error {
	slot += 8 * farHeader
	again := uintptr(0)
	if len(payload) <= mostNoted {
		again = 8 * uintptr((len(payload)+3)/4)
	}
	for ; len(payload) > 0; slot += 8 {
		v, err := g.payloadWord(slot, again)
		if err != nil {
			return err
		}
		var b [4]byte
		binary.NativeEndian.PutUint32(b[:], v)
		payload = payload[copy(payload, b[:]):]
	}
	return nil
}

// payloadWord waits for the payload of this epoch at off, which comes a second time so many
// bytes behind, unless that is 0.
func (g *Group) payloadWord(off, again uintptr) (uint32, error) {
	for p := g.w.Own(off); ; {
		v, w := loadRelaxed(p, 0), loadRelaxed(p, again)
		switch tag := g.epoch << 32; {
		case w&^(1<<32-1) != tag: // the second mostly comes last
			if err := g.awaitOwn(off+again, fabric.CmpNE, w); err != nil {
				return 0, err
			}
		case v&^(1<<32-1) != tag:
			if err := g.awaitOwn(off, fabric.CmpNE, v); err != nil {
				return 0, err
			}
		case v != w: // a piece of one is missing
			if err := g.w.Endpoint().Progress(); err != nil {
				return 0, err
			}
		default:
			return uint32(v), nil
		}
	}
}

// exchange sends mine to a member and receives theirs from it.
func (g *Group) exchange(c Call, q, round int, mine, theirs []byte) error {
	if err := g.send(q, g.farSlot(round), mine); err != nil {
		return err
	}
	return g.receive(c, round, theirs)
}

// reduceDoubling: recursive doubling: in round r a member exchanges what it has with the
// one whose number differs in bit r, and both combine it in the same order: ⌊log2 n⌋
// messages a member, and one before and one after for those beyond a power of two. Members
// that are in other calls would wait in other slots, for each other and for ever, so of more than
// two all synchronise first.
func (g *Group) reduceDoubling(c Call, mine []byte, f fold) error {
	if g.n > 2 || g.how != dissemination {
		if err := g.Sync(c); err != nil {
			return err
		}
	}
	g.meet(c)
	theirs := g.buffers()[block : block+len(mine)]
	all := 1 << (bits.Len(uint(g.n)) - 1)
	if g.me >= all {
		if err := g.send(g.me-all, g.farSlot(g.before()), mine); err != nil {
			return err
		}
		return g.receive(c, g.after(), mine)
	}
	if g.me+all < g.n {
		if err := g.receive(c, g.before(), theirs); err != nil {
			return err
		}
		f(mine, theirs)
	}
	for r, d := 0, 1; d < all; r, d = r+1, 2*d {
		if err := g.exchange(c, g.me^d, r, mine, theirs); err != nil {
			return err
		}
		if g.me&d == 0 {
			f(mine, theirs)
		} else {
			f(theirs, mine)
			copy(mine, theirs)
		}
	}
	if g.me+all < g.n {
		return g.send(g.me+all, g.farSlot(g.after()), mine)
	}
	return nil
}

// reduceFar reduces as much as a message holds.
func (g *Group) reduceFar(c Call, a Array, f fold) error {
	size := a.N * int(c.Elem)
	mine := g.buffers()[:size]
	copy(mine, g.ownBytes(a.Src, size))
	if err := g.reduceDoubling(c, mine, f); err != nil {
		return err
	}
	copy(g.ownBytes(a.Dst, size), mine)
	return nil
}

// reduceTree: after a synchronisation, members combine what they have up a binomial tree, in the
// members' order: who has combined all of its part says so to its parent, which fetches it.
// Then the result comes down the tree: ⌈log2 n⌉ fetches and as many stores one after the other, and each
// member's elements travel up and down once.
func (g *Group) reduceTree(c Call, a Array, f fold) error {
	if err := g.Sync(c); err != nil {
		return err
	}
	if err := g.climb(c, a, f, nil); err != nil {
		return err
	}
	return g.fanOut(c, a.Dst, a.Dst, a.N*int(c.Elem), 0)
}

// climb leaves at Dst of each member, and on member 0 of all, what the members of its part of a binomial tree
// have, combined. combined, unless nil, is called with what a member has before it
// takes in that of the member d above.
func (g *Group) climb(c Call, a Array, f fold, combined func(mine []byte, d int)) error {
	g.meet(c)
	size := a.N * int(c.Elem)
	mine := g.buffers()[:size]
	copy(mine, g.ownBytes(a.Src, size))
	r, d := 0, 1
	for ; d < g.n && g.me&d == 0; r, d = r+1, 2*d {
		if g.me+d >= g.n {
			continue
		}
		if err := g.receive(c, r, nil); err != nil {
			return err
		}
		theirs, err := g.load(g.me+d, a.Dst, size)
		if err != nil {
			return err
		}
		if combined != nil {
			combined(mine, d)
		}
		f(mine, theirs)
	}
	copy(g.ownBytes(a.Dst, size), mine)
	if g.me == 0 {
		return nil
	}
	return g.send(g.me-d, g.farSlot(r), nil)
}

// broadcastTree: a binomial tree: a synchronisation, and then ⌈log2 n⌉ times the size one after
// the other; each member gets it once, at its place.
func (g *Group) broadcastTree(c Call, dst, src fabric.Addr, size, root int) error {
	if err := g.Sync(c); err != nil || size == 0 {
		return err
	}
	return g.fanOut(c, dst, src, size, root)
}

// fanOut is broadcastTree without its synchronisation.
func (g *Group) fanOut(c Call, dst, src fabric.Addr, size, root int) error {
	g.next(c)
	v, top, from := (g.me-root+g.n)%g.n, 1<<bits.Len(uint(g.n-1)), g.ownBytes(src, size)
	if v != 0 {
		if err := g.arrived(c, g.flag()); err != nil {
			return err
		}
		top, from = v&-v, g.ownBytes(dst, size)
	}
	for d := top / 2; d > 0; d /= 2 {
		if v+d < g.n {
			if err := g.sendTo((g.me+d)%g.n, dst, from, g.flag()); err != nil {
				return err
			}
		}
	}
	if v == 0 && dst != src {
		copy(g.ownBytes(dst, size), from)
	}
	return nil
}

// collectRounds: a synchronisation, then dissemination: in round r a member sends the 2^r blocks that it
// has, its own and those before it, to the one 2^r behind it, at their places: ⌈log2 n⌉
// messages and n-1 blocks a member. Member q's block is at dst from offset at(q) to at(q+1); the own one is
// there.
func (g *Group) collectRounds(c Call, dst fabric.Addr, at func(q int) int) error {
	if err := g.Sync(c); err != nil {
		return err
	}
	g.meet(c)
	blocks := func(lo, hi int) (fabric.Addr, []byte) {
		off := dst + uintptr(at(lo))
		return off, g.ownBytes(off, at(hi)-at(lo))
	}
	for r, d := 0, 1; d < g.n; r, d = r+1, 2*d {
		q, m := (g.me+d)%g.n, min(d, g.n-d)
		first := g.me - m + 1
		if first < 0 { // blocks at the end of dst
			off, b := blocks(g.n+first, g.n)
			if err := g.w.Endpoint().Put(g.world(q), off, b); err != nil {
				return err
			}
			if err := g.w.Endpoint().Fence(); err != nil {
				return err
			}
		}
		off, b := blocks(max(0, first), g.me+1)
		if err := g.sendTo(q, off, b, g.farSlot(r)); err != nil {
			return err
		}
		if err := g.arrived(c, g.farSlot(r)); err != nil {
			return err
		}
	}
	return nil
}

// exchangeFlags: every block travels with its flag, in a slot of its sender's: n-1 messages a
// member. Small ones need no synchronisation: as in one, the first message is to the
// next member and in slot 0, so that members in different calls find out.
func (g *Group) exchangeFlags(c Call, dst, src fabric.Addr, size int) error {
	small := size <= mostFar
	if !small || g.how != dissemination {
		if err := g.Sync(c); err != nil {
			return err
		}
	}
	g.meet(c)
	at := func(off fabric.Addr, i int) fabric.Addr { return off + uintptr(i*size) }
	copy(g.ownBytes(at(dst, g.me), size), g.ownBytes(at(src, g.me), size))
	for i := 1; i < g.n; i++ {
		q := (g.me + i) % g.n
		if err := g.sendBlock(q, at(dst, g.me), g.ownBytes(at(src, q), size), g.farSlot(i-1)); err != nil {
			return err
		}
	}
	for i := 1; i < g.n; i++ {
		var err error
		if small {
			err = g.receive(c, i-1, g.ownBytes(at(dst, (g.me-i+g.n)%g.n), size))
		} else {
			err = g.arrived(c, g.farSlot(i-1))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// collectPair is for two members, with as much as a message holds.
func (g *Group) collectPair(c Call, dst, src fabric.Addr, size int) error {
	if g.how != dissemination {
		if err := g.Sync(c); err != nil {
			return err
		}
	}
	g.meet(c)
	own, other := g.ownBytes(src, size), 1-g.me
	copy(g.ownBytes(dst+uintptr(g.me*size), size), own)
	return g.exchange(c, other, 0, own, g.ownBytes(dst+uintptr(other*size), size))
}

// sendBlock sends a block with its flag: in the slot, or to dst if it is too large.
func (g *Group) sendBlock(q int, dst fabric.Addr, block []byte, slot uintptr) error {
	if len(block) <= mostFar {
		return g.send(q, slot, block)
	}
	return g.sendTo(q, dst, block, slot)
}
