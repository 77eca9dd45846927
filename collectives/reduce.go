// SPDX-License-Identifier: BSD-3-Clause

package collectives

import "github.com/goshmem/goshmem/fabric"

// block is how many bytes a reduction works on at a time: sources, result and
// copies stay in the first-level cache between the passes.
const block = 8 << 10

// An Array is what a reduction works on: n elements at the same offsets of every
// member. Dst and Src are equal or do not overlap.
type Array struct {
	Dst, Src fabric.Addr
	N        int
	Type     uint8 // tells types of one size apart in a mismatch
}

// call returns the collective that every member has to be in.
func call[T any](kind Kind, op Operator, a Array) Call {
	return Call{Kind: kind, Elem: sizeof[T](), N: uint64(a.N), Arg: uint64(a.Type)<<8 | uint64(op)}
}

// The reductions store, at Dst of every member, the element-wise combination of
// all members' elements at Src. All members get the same bits.

// SumReduce adds.
func SumReduce[T Number](g *Group, a Array) error {
	return g.reduce(call[T](KindReduce, OpSum, a), a, func(d, s []byte) { add(view[T](d), view[T](s)) })
}

// ProdReduce multiplies.
func ProdReduce[T Number](g *Group, a Array) error {
	return g.reduce(call[T](KindReduce, OpProd, a), a, func(d, s []byte) { multiply(view[T](d), view[T](s)) })
}

// MaxReduce takes the greatest.
func MaxReduce[T Ordered](g *Group, a Array) error {
	return g.reduce(call[T](KindReduce, OpMax, a), a, func(d, s []byte) { greatest(view[T](d), view[T](s)) })
}

// MinReduce takes the least.
func MinReduce[T Ordered](g *Group, a Array) error {
	return g.reduce(call[T](KindReduce, OpMin, a), a, func(d, s []byte) { least(view[T](d), view[T](s)) })
}

// AndReduce takes the bits that all have.
func AndReduce[T Integer](g *Group, a Array) error {
	return g.reduce(call[T](KindReduce, OpAnd, a), a, func(d, s []byte) { and(view[T](d), view[T](s)) })
}

// OrReduce takes the bits that any has.
func OrReduce[T Integer](g *Group, a Array) error {
	return g.reduce(call[T](KindReduce, OpOr, a), a, func(d, s []byte) { or(view[T](d), view[T](s)) })
}

// XorReduce takes the bits that an odd number have.
func XorReduce[T Integer](g *Group, a Array) error {
	return g.reduce(call[T](KindReduce, OpXor, a), a, func(d, s []byte) { xor(view[T](d), view[T](s)) })
}

// The reduce-scatters store, at Dst of member i, block i of what the reductions
// store, of N elements; Src has a block for each member.

// SumReduceScatter adds.
func SumReduceScatter[T Number](g *Group, a Array) error {
	return g.reduceScatter(call[T](KindReduceScatter, OpSum, a), a, func(d, s []byte) { add(view[T](d), view[T](s)) })
}

// MaxReduceScatter takes the greatest.
func MaxReduceScatter[T Ordered](g *Group, a Array) error {
	return g.reduceScatter(call[T](KindReduceScatter, OpMax, a), a, func(d, s []byte) { greatest(view[T](d), view[T](s)) })
}

// MinReduceScatter takes the least.
func MinReduceScatter[T Ordered](g *Group, a Array) error {
	return g.reduceScatter(call[T](KindReduceScatter, OpMin, a), a, func(d, s []byte) { least(view[T](d), view[T](s)) })
}

func (g *Group) reduce(c Call, a Array, f fold) error {
	switch g.choose(opReduce, a.N*int(c.Elem)) {
	case leaders:
		return g.reduceLeaders(c, a, f)
	case carried:
		return g.reduceCarried(c, a, f)
	case doubling:
		return g.reduceFar(c, a, f)
	case tree:
		return g.reduceTree(c, a, f)
	case halving:
		return g.reduceHalving(c, a, f)
	default:
		return g.reduceShares(c, a, f)
	}
}

// reduceCarried: the elements travel with the synchronisation, and each member combines
// all, in the members' order: one synchronisation, n slots to read.
func (g *Group) reduceCarried(c Call, a Array, f fold) error {
	size := a.N * int(c.Elem)
	if err := g.carry(c, g.ownBytes(a.Src, size)); err != nil || size == 0 {
		return err
	}
	g.foldCarried(g.ownBytes(a.Dst, size), f)
	return nil
}

// foldCarried sets dst to what near members show in this epoch, combined in their order.
func (g *Group) foldCarried(dst []byte, f fold) {
	copy(dst, g.carried(0, len(dst)))
	for q := 1; q < g.n; q++ {
		f(dst, g.carried(q, len(dst)))
	}
}

// reduceShares: each member combines one n-th part in the members' order and copies it to
// all: n-1 loads and n stores of each element in all, two synchronisations.
func (g *Group) reduceShares(c Call, a Array, f fold) error {
	if err := g.Sync(c); err != nil || a.N == 0 {
		return err
	}
	elem := int(c.Elem)
	lo, hi := share(a.N, g.me, g.n)
	err := g.inBlocks(elem, lo, hi, func(off uintptr, result []byte) error {
		if err := g.combine(result, a.Src+off, f); err != nil {
			return err
		}
		for i := range g.n {
			if err := g.store((g.me+i)%g.n, a.Dst+off, result); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.finish(c)
}

// reduceScatter: each member combines its block in the members' order: n-1 loads
// of each element of one block. dst and src do not overlap.
func (g *Group) reduceScatter(c Call, a Array, f fold) error {
	if err := g.Sync(c); err != nil || a.N == 0 {
		return err
	}
	size := a.N * int(c.Elem)
	own := a.Src + uintptr(g.me*size)
	err := g.inBlocks(int(c.Elem), 0, a.N, func(off uintptr, result []byte) error {
		if err := g.combine(result, own+off, f); err != nil {
			return err
		}
		copy(g.ownBytes(a.Dst+off, len(result)), result)
		return nil
	})
	if err != nil {
		return err
	}
	return g.finish(c)
}

// inBlocks calls f for elements lo to hi-1, a block at a time, with their offset in
// bytes and a buffer for them.
func (g *Group) inBlocks(elem, lo, hi int, f func(off uintptr, buf []byte) error) error {
	buf, per := g.buffers(), block/elem
	for ; lo < hi; lo += per {
		if err := f(uintptr(lo*elem), buf[:min(per, hi-lo)*elem]); err != nil {
			return err
		}
	}
	return nil
}

// combine sets result to what all members have at off, combined in their order.
func (g *Group) combine(result []byte, off fabric.Addr, f fold) error {
	for q := range g.n {
		from, err := g.load(q, off, len(result))
		if err != nil {
			return err
		}
		if q == 0 {
			copy(result, from)
		} else {
			f(result, from)
		}
	}
	return nil
}

// share returns the range of n elements that part i of k works on.
func share(n, i, k int) (lo, hi int) {
	return n/k*i + min(i, n%k), n/k*(i+1) + min(i+1, n%k)
}
