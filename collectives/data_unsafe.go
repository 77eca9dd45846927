// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"unsafe"

	"github.com/goshmem/goshmem/fabric"
)

// Number is what can be summed.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// block is how many bytes a reduction works on at a time: sources, sum and
// copies stay in the first-level cache between the passes.
const block = 8 << 10

// SumReduce stores the element-wise sum of every member's n elements at src at
// dst of every member. dst and src are equal or do not overlap. Each member
// sums one n-th part in the members' order and copies it to all, so that all
// get the same bits: n-1 loads and n stores of each element in all.
func SumReduce[T Number](g *Group, dst, src fabric.Addr, n int, typ uint8) error {
	var zero T
	elem := unsafe.Sizeof(zero)
	c := Call{Kind: KindReduce, Elem: uint32(elem), N: uint64(n), Arg: uint64(typ) << 8}
	if err := g.Sync(c); err != nil || n == 0 {
		return err
	}
	if g.scratch == nil {
		g.scratch = make([]byte, 2*block)
	}
	per := block / int(elem)
	lo, hi := share(n, g.me, g.n)
	for ; lo < hi; lo += per {
		m := min(per, hi-lo)
		off := uintptr(lo) * elem
		sum := view[T](g.scratch[:block], m)
		for q := range g.n {
			from, err := g.load(q, src+off, m*int(elem))
			if err != nil {
				return err
			}
			if q == 0 {
				copy(sum, view[T](from, m))
			} else {
				add(sum, view[T](from, m))
			}
		}
		for i := range g.n {
			q := (g.me + i) % g.n
			if err := g.store(q, dst+off, g.scratch[:m*int(elem)]); err != nil {
				return err
			}
		}
	}
	if err := g.Quiet(); err != nil {
		return err
	}
	return g.Sync(c)
}

// share returns the range of n elements that part i of k works on.
func share(n, i, k int) (lo, hi int) {
	return n/k*i + min(i, n%k), n/k*(i+1) + min(i+1, n%k)
}

// add adds src to dst, element by element. Four independent sums a step keep
// the adders busy; the reslicing takes the bounds checks away.
func add[T Number](dst, src []T) {
	src = src[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, s := dst[i:i+4:i+4], src[i:i+4:i+4]
		d[0] += s[0]
		d[1] += s[1]
		d[2] += s[2]
		d[3] += s[3]
	}
	for ; i < len(dst); i++ {
		dst[i] += src[i]
	}
}

// load returns n bytes at off in member q's segment: in place if near, else
// fetched to the second half of scratch. n is at most block.
func (g *Group) load(q int, off fabric.Addr, n int) ([]byte, error) {
	if b := g.bytesAt(q, off, n); b != nil {
		return b, nil
	}
	b := g.scratch[block : block+n]
	return b, g.w.Endpoint().Get(g.world(q), b, off)
}

// store copies src to off in member q's segment.
func (g *Group) store(q int, off fabric.Addr, src []byte) error {
	if b := g.bytesAt(q, off, len(src)); b != nil {
		copy(b, src)
		return nil
	}
	return g.w.Endpoint().Put(g.world(q), off, src)
}

// Broadcast copies n elements of elem bytes at src of member root to dst of
// every member, the root's included. Members pull: each copies for itself,
// all at once.
func Broadcast(g *Group, dst, src fabric.Addr, elem uint32, n, root int) error {
	c := Call{Kind: KindBroadcast, Elem: elem, N: uint64(n), Arg: uint64(root)}
	if err := g.Sync(c); err != nil || n == 0 {
		return err
	}
	size := n * int(elem)
	own := g.ownBytes(dst, size)
	switch from := g.bytesAt(root, src, size); {
	case from != nil:
		copy(own, from)
	case dst == src && root == g.me: // in place
	default:
		if err := g.w.Endpoint().Get(g.world(root), own, src); err != nil {
			return err
		}
	}
	if err := g.Quiet(); err != nil {
		return err
	}
	return g.Sync(c)
}

// FCollect puts every member's n elements of elem bytes at src one after the
// other at dst of every member. Members push, each starting at its neighbour,
// so that no member's memory is everyone's target at once: n-1 puts a member.
func FCollect(g *Group, dst, src fabric.Addr, elem uint32, n int) error {
	size := n * int(elem)
	return g.push(Call{Kind: KindFCollect, Elem: elem, N: uint64(n)}, dst+uintptr(g.me*size), size, func(int) fabric.Addr { return src })
}

// AllToAll puts block j of n elements of elem bytes at src of member i to
// block i at dst of member j. Members push, as in FCollect.
func AllToAll(g *Group, dst, src fabric.Addr, elem uint32, n int) error {
	size := n * int(elem)
	return g.push(Call{Kind: KindAllToAll, Elem: elem, N: uint64(n)}, dst+uintptr(g.me*size), size, func(q int) fabric.Addr { return src + uintptr(q*size) })
}

// push copies size bytes from the own from(q) to dst of every member q.
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
	if err := g.Quiet(); err != nil {
		return err
	}
	return g.Sync(c)
}

// ownBytes returns n bytes of the own segment.
func (g *Group) ownBytes(off fabric.Addr, n int) []byte {
	return unsafe.Slice((*byte)(g.w.Own(off)), n) // callers keep off+n within the segment
}

// view reads n elements of a buffer that is long enough and aligned for T.
func view[T any](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n) // b has n elements' bytes; same lifetime
}
