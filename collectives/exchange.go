// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/goshmem/goshmem/fabric"
)

// FCollect puts every member's n elements of elem bytes at src one after the
// other at dst of every member. Small blocks of near members travel with the
// synchronisation, larger ones are pushed.
func FCollect(g *Group, dst, src fabric.Addr, elem uint32, n int) error {
	c, size := Call{Kind: KindFCollect, Elem: elem, N: uint64(n)}, n*int(elem)
	switch g.choose(opFCollect, size) {
	case pair:
		return g.collectPair(c, dst, src, size)
	case dissemination:
		at := func(q int) int { return q * size }
		copy(g.ownBytes(dst+uintptr(at(g.me)), size), g.ownBytes(src, size))
		return g.collectRounds(c, dst, at)
	case carried:
		return g.collectCarried(c, dst, src, size)
	case leaders:
		return g.collectLeaders(c, dst, src, size)
	default:
		return g.push(c, dst+uintptr(g.me*size), size, func(int) fabric.Addr { return src })
	}
}

// AllToAll puts block j of n elements of elem bytes at src of member i to
// block i at dst of member j, as in FCollect.
func AllToAll(g *Group, dst, src fabric.Addr, elem uint32, n int) error {
	c, size := Call{Kind: KindAllToAll, Elem: elem, N: uint64(n)}, n*int(elem)
	switch g.choose(opAllToAll, g.n*size) {
	case carried:
		return g.exchangeCarried(c, dst, src, size)
	case flags:
		return g.exchangeFlags(c, dst, src, size)
	default:
		return g.push(c, dst+uintptr(g.me*size), size, func(q int) fabric.Addr { return src + uintptr(q*size) })
	}
}

// collectCarried: the blocks travel with the synchronisation, and each member copies all: one
// synchronisation, n slots to read.
func (g *Group) collectCarried(c Call, dst, src fabric.Addr, size int) error {
	if err := g.carry(c, g.ownBytes(src, size)); err != nil {
		return err
	}
	for q := range g.n {
		copy(g.ownBytes(dst+uintptr(q*size), size), g.carried(q, size))
	}
	return nil
}

// exchangeCarried: as collectCarried, with each member's blocks for all.
func (g *Group) exchangeCarried(c Call, dst, src fabric.Addr, size int) error {
	if err := g.carry(c, g.ownBytes(src, g.n*size)); err != nil {
		return err
	}
	for q := range g.n {
		copy(g.ownBytes(dst+uintptr(q*size), size), g.carried(q, g.n*size)[g.me*size:])
	}
	return nil
}

// push copies size bytes from the own from(q) to dst of every member q. Each starts at its
// neighbour, so that no member's memory is everyone's target at once: n-1 puts a member.
func (g *Group) push(c Call, dst fabric.Addr, size int, from func(q int) fabric.Addr) error {
	if size > 0 {
		for i := 1; i <= g.n; i++ {
			q := g.me + i
			if q >= g.n {
				q -= g.n
			}
			if err := g.store(q, dst, g.ownBytes(from(q), size)); err != nil {
				return err
			}
		}
	}
	return g.finish(c)
}

// AllToAllStrided is AllToAll of blocks whose elements are ds elements apart at
// dst and ss at src: element k of block j is the (j·n+k)-th. Members push
// block by block.
func AllToAllStrided(g *Group, dst, src fabric.Addr, elem uint32, ds, ss, n int) error {
	c := Call{Kind: KindAllToAllStrided, Elem: elem, N: uint64(n), Arg: uint64(ds)<<32 ^ uint64(ss)}
	size := int(elem)
	for i := 1; i <= g.n && n > 0; i++ {
		q := (g.me + i) % g.n
		to, from := dst+uintptr(g.me*n*ds*size), src+uintptr(q*n*ss*size)
		if g.near(q) {
			for k := range n {
				copy(g.bytesAt(q, to+uintptr(k*ds*size), size), g.ownBytes(from+uintptr(k*ss*size), size))
			}
			continue
		}
		s := fabric.Strides{Block: size, Blocks: n, Dst: ds * size, Src: ss * size}
		if err := g.w.Endpoint().PutStrided(g.world(q), to, g.ownBytes(from, ((n-1)*ss+1)*size), s); err != nil {
			return err
		}
	}
	return g.finish(c)
}

// ErrOthersRoom is what members get if another has too little room.
var ErrOthersRoom = errors.New("another PE has too little room")

// A RoomError says that what members send does not fit what one has for it.
type RoomError struct {
	Need, Room int // elements
}

// Error implements error.
func (e *RoomError) Error() string {
	return fmt.Sprintf("%d elements arrive, there is room for %d", e.Need, e.Room)
}

// Collect puts every member's elements of elem bytes at src one after the other
// at dst of every member, in the members' order. A member has n, and room for
// room elements at dst. If some member has too little room, all get a
// *[RoomError]. Each member learns all lengths, and pushes.
func Collect(g *Group, dst, src fabric.Addr, elem uint32, n, room int) error {
	c := Call{Kind: KindCollect, Elem: elem}
	if g.far() {
		return g.collectFar(c, dst, src, int(elem), n, room)
	}
	before, total, least, err := g.measure(c, n, room)
	switch {
	case err != nil:
		return err
	case total > least:
		return &RoomError{Need: total, Room: least}
	}
	size := n * int(elem)
	return g.push(c, dst+uintptr(before*int(elem)), size, func(int) fabric.Addr { return src })
}

// measure returns how many elements the near members before this one have, how many all
// have, and the least room.
func (g *Group) measure(c Call, n, room int) (before, total, least int, err error) {
	var b [16]byte
	binary.NativeEndian.PutUint64(b[:], uint64(n))
	binary.NativeEndian.PutUint64(b[8:], uint64(room))
	if err := g.carry(c, b[:]); err != nil {
		return 0, 0, 0, err
	}
	least = math.MaxInt
	for q := range g.n {
		from := g.carried(q, len(b))
		if q == g.me {
			before = total
		}
		total += int(binary.NativeEndian.Uint64(from))
		least = min(least, int(binary.NativeEndian.Uint64(from[8:])))
	}
	if total > least {
		err = g.Sync(c)
	}
	return before, total, least, err
}

// AllToAllV gives counts[j] elements of elem bytes at src of member i to member
// j, where they lie in the order of their members at dst. Counts are 8-byte
// integers at counts of each member, and what is for member 0 comes first at src, then
// what is for member 1, and so on. received, unless nil, gets how many elements each
// member gave. Members pull. If some member has too little room, it gets a *[RoomError],
// and the others [ErrOthersRoom].
func AllToAllV(g *Group, dst, src, counts fabric.Addr, elem uint32, room int, received []int) error {
	c := Call{Kind: KindAllToAllV, Elem: elem}
	if err := g.Sync(c); err != nil {
		return err
	}
	got, short := 0, error(nil)
	for q := range g.n {
		before, n := 0, 0
		err := g.inBlocks(8, 0, g.me+1, func(off uintptr, buf []byte) error {
			b, err := g.load(q, counts+off, len(buf))
			for ; len(b) > 0; b = b[8:] {
				before += n
				n = int(binary.NativeEndian.Uint64(b))
			}
			return err
		})
		if err != nil {
			return err
		}
		if received != nil {
			received[q] = n
		}
		if got += n; got > room {
			short = &RoomError{Need: got, Room: room}
		}
		if short != nil || n == 0 {
			continue
		}
		to := g.ownBytes(dst+uintptr((got-n)*int(elem)), n*int(elem))
		if err := g.fetch(q, to, src+uintptr(before*int(elem))); err != nil {
			return err
		}
	}
	failed, err := g.Agree(c, short != nil)
	switch {
	case err != nil:
		return err
	case short != nil:
		return short
	case failed:
		return ErrOthersRoom
	}
	return nil
}
