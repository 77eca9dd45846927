// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"encoding/binary"
	"math/bits"

	"github.com/goshmem/goshmem/fabric"
)

// collectFar is Collect of far members. All learn the sum of the lengths and the least room, then each the sum of
// those before it, in rounds.
func (g *Group) collectFar(c Call, dst, src fabric.Addr, elem, n, room int) error {
	own := g.buffers()[:16]
	putInts(own, n, room)
	err := g.combineAll(c, own, func(d, s []byte) {
		a, b := ints(d)
		e, f := ints(s)
		putInts(d, a+e, min(b, f))
	})
	if err != nil {
		return err
	}
	total, least := ints(own)
	if total > least {
		return &RoomError{Need: total, Room: least}
	}
	before, ends, err := g.windows(c, n, total)
	if err != nil {
		return err
	}
	if size := n * elem; g.choose(opCollect, 0) == push {
		return g.push(c, dst+uintptr(before*elem), size, func(int) fabric.Addr { return src })
	}
	copy(g.ownBytes(dst+uintptr(before*elem), n*elem), g.ownBytes(src, n*elem))
	return g.collectRounds(c, dst, func(q int) int {
		switch q {
		case 0:
			return 0
		case g.me + 1:
			return (before + n) * elem
		case g.n:
			return total * elem
		}
		// The first block of those that end with the own one, some of which may be at the end of dst.
		if q <= g.me {
			return (before + n - ends.of(g.me+1-q)) * elem
		}
		return (total + before + n - ends.of(g.me+1-q+g.n)) * elem
	})
}

// ends are the sums of the lengths of so many members as collectRounds sends the blocks of, the last of which is
// this one, in a circle.
type ends struct {
	powers    [maxRounds]int // of 2^i members
	rest, sum int            // of rest members, in the last round
}

func (e *ends) of(members int) int {
	if members == e.rest {
		return e.sum
	}
	return e.powers[bits.Len(uint(members))-1]
}

// windows returns the sum of the lengths of the members before this one, and those of the ones that end with
// it: ⌈log2 n⌉ messages, and one more unless there is a power of two of members.
func (g *Group) windows(c Call, n, total int) (before int, e ends, err error) {
	g.meet(c)
	own, theirs := make([]byte, 16), make([]byte, 16)
	prefix, sum := n, n
	d := 1
	for r := 0; d < g.n; r, d = r+1, 2*d {
		e.powers[r] = sum
		putInts(own, prefix, sum)
		if err := g.exchange(c, (g.me+d)%g.n, r, own, theirs); err != nil {
			return 0, e, err
		}
		p, s := ints(theirs)
		if g.me >= d {
			prefix += p
		}
		sum += s
	}
	if rest := g.n - d/2; rest < d/2 {
		// The members that are not among those up to the one d/2 above.
		putInts(own, e.of(d/2), 0)
		if err := g.send((g.me-d/2+g.n)%g.n, g.farSlot(g.after()), own); err != nil {
			return 0, e, err
		}
		if err := g.receive(c, g.after(), theirs); err != nil {
			return 0, e, err
		}
		s, _ := ints(theirs)
		e.rest, e.sum = rest, total-s
	}
	return prefix - n, e, nil
}

func putInts(b []byte, v, w int) {
	binary.NativeEndian.PutUint64(b, uint64(v))
	binary.NativeEndian.PutUint64(b[8:], uint64(w))
}

func ints(b []byte) (v, w int) {
	return int(binary.NativeEndian.Uint64(b)), int(binary.NativeEndian.Uint64(b[8:]))
}
