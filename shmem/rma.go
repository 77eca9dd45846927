// SPDX-License-Identifier: BSD-3-Clause

package shmem

// Put copies src to the first len(src) elements of x on PE target.
//
// Put returns when src may be reused. The data is visible there only after a
// later Quiet or barrier, or a signal ordered by Fence. Delivery is unordered
// until then, also within one Put. An empty src is a no-op.
//
// Put panics if x is zero or freed, if src is longer than x, or if target is
// out of range. OpenSHMEM 1.6, 9.6.1 (shmem_put).
func Put[T any](x Sym[T], src []T, target int) {
	if uint(len(src)-1) < uint(x.n) { // 0 < len(src) <= x.n, so x is not zero
		if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
			copy(span[T](p, len(src)), src)
			return
		}
	}
	putSlow(x, src, target)
}

//go:noinline
func putSlow[T any](x Sym[T], src []T, target int) {
	x.check("Put", len(src), target)
	if len(src) > 0 {
		x.ctx.must("Put", target, x.ctx.w.Endpoint().Put(x.ctx.world(target), x.off, bytesOf(src)))
	}
}

// Get copies the first len(dst) elements of x on PE target to dst, and returns
// when they are there. An empty dst is a no-op.
//
// Get panics if x is zero or freed, if dst is longer than x, or if target is
// out of range. OpenSHMEM 1.6, 9.6.1 (shmem_get).
func Get[T any](dst []T, x Sym[T], target int) {
	if uint(len(dst)-1) < uint(x.n) {
		if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
			copy(dst, span[T](p, len(dst)))
			return
		}
	}
	getSlow(dst, x, target)
}

//go:noinline
func getSlow[T any](dst []T, x Sym[T], target int) {
	x.check("Get", len(dst), target)
	if len(dst) > 0 {
		x.ctx.must("Get", target, x.ctx.w.Endpoint().Get(x.ctx.world(target), bytesOf(dst), x.off))
	}
}

// PutValue stores v in x, an object of one element, on PE target. Completion
// is Put's. A value of 1, 2, 4 or 8 bytes that is aligned to its size is stored
// in one piece: a WaitUntil there sees the old value or the new one.
//
// PutValue panics if x is zero, freed, or not of one element, or if target is
// out of range. OpenSHMEM 1.6, 9.6.1 (shmem_p).
func PutValue[T any](x Sym[T], v T, target int) {
	if x.n == 1 {
		if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
			if isWord[T]() {
				storeWord(p, v)
			} else {
				span[T](p, 1)[0] = v
			}
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return
		}
	}
	putValueSlow(x, v, target)
}

//go:noinline
func putValueSlow[T any](x Sym[T], v T, target int) {
	x.checkScalar("PutValue", target)
	ep, pe := x.ctx.w.Endpoint(), x.ctx.world(target)
	if isWord[T]() {
		x.ctx.must("PutValue", target, ep.PutWord(pe, x.off, uint8(sizeof[T]()), bits(v)))
		return
	}
	one := [1]T{v}
	x.ctx.must("PutValue", target, ep.Put(pe, x.off, bytesOf(one[:])))
}

// GetValue returns the value of x, an object of one element, on PE target.
//
// GetValue panics as PutValue does. OpenSHMEM 1.6, 9.6.1 (shmem_g).
func GetValue[T any](x Sym[T], target int) T {
	if x.n == 1 {
		if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
			return span[T](p, 1)[0]
		}
	}
	return getValueSlow(x, target)
}

//go:noinline
func getValueSlow[T any](x Sym[T], target int) T {
	x.checkScalar("GetValue", target)
	var one [1]T
	x.ctx.must("GetValue", target, x.ctx.w.Endpoint().Get(x.ctx.world(target), bytesOf(one[:]), x.off))
	return one[0]
}

// wake wakes near PE target, of the context's team, if it sleeps; every near PE
// if target is negative.
//
//go:noinline
func (ctx *Context) wake(target int) {
	if target >= 0 {
		target = ctx.world(target)
	}
	ctx.w.Domain().Wake(target)
}
