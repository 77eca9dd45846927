// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "github.com/goshmem/goshmem/fabric"

// Atomics that OpenSHMEM 1.6 does not have, and libfabric does: minimum, maximum,
// product and the logical operations. What is said of atomics in general is
// said of them. On near PEs each is a compare-and-swap loop. They have no
// non-blocking forms: those that fetch nothing do not wait either.

// AtomicMin stores v in x on PE target if v is less:
//
//	if v < *x { *x = v }
//
// The minimum of a number and a NaN is the number. It returns before that is
// visible; Quiet and barriers complete it. Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicMin[T Ordered](x Sym[T], v T, target int) {
	if p := nearWord(x, target); p != nil {
		minWord(p, v)
		x.ctx.wakeIfDue(target)
		return
	}
	atomicSlow("AtomicMin", x, fabric.OpMin, bits(v), target)
}

// AtomicFetchMin does as [AtomicMin] and returns the value before:
//
//	old = *x; if v < *x { *x = v }; return old
//
// Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicFetchMin[T Ordered](x Sym[T], v T, target int) T {
	if p := nearWord(x, target); p != nil {
		old := minWord(p, v)
		x.ctx.wakeIfDue(target)
		return old
	}
	return fetchSlow("AtomicFetchMin", x, fabric.OpMin, bits(v), 0, target)
}

// AtomicMax stores v in x on PE target if v is greater:
//
//	if v > *x { *x = v }
//
// The maximum of a number and a NaN is the number. It returns before that is
// visible; Quiet and barriers complete it. Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicMax[T Ordered](x Sym[T], v T, target int) {
	if p := nearWord(x, target); p != nil {
		maxWord(p, v)
		x.ctx.wakeIfDue(target)
		return
	}
	atomicSlow("AtomicMax", x, fabric.OpMax, bits(v), target)
}

// AtomicFetchMax does as [AtomicMax] and returns the value before:
//
//	old = *x; if v > *x { *x = v }; return old
//
// Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicFetchMax[T Ordered](x Sym[T], v T, target int) T {
	if p := nearWord(x, target); p != nil {
		old := maxWord(p, v)
		x.ctx.wakeIfDue(target)
		return old
	}
	return fetchSlow("AtomicFetchMax", x, fabric.OpMax, bits(v), 0, target)
}

// AtomicProd multiplies x on PE target by v:
//
//	*x = *x * v
//
// Integers wrap. It returns before that is visible; Quiet and barriers complete
// it. Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicProd[T Scalar](x Sym[T], v T, target int) {
	if p := nearWord(x, target); p != nil {
		prodWord(p, v)
		x.ctx.wakeIfDue(target)
		return
	}
	atomicSlow("AtomicProd", x, fabric.OpProd, bits(v), target)
}

// AtomicFetchProd does as [AtomicProd] and returns the value before:
//
//	old = *x; *x = *x * v; return old
//
// Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicFetchProd[T Scalar](x Sym[T], v T, target int) T {
	if p := nearWord(x, target); p != nil {
		old := prodWord(p, v)
		x.ctx.wakeIfDue(target)
		return old
	}
	return fetchSlow("AtomicFetchProd", x, fabric.OpProd, bits(v), 0, target)
}

// AtomicLogicalAnd stores 1 in x on PE target if x and v are both nonzero, else
// 0:
//
//	*x = *x != 0 && v != 0
//
// It returns before that is visible; Quiet and barriers complete it. Beyond
// OpenSHMEM 1.6, 9.7.1.
func AtomicLogicalAnd[T Scalar](x Sym[T], v T, target int) {
	if p := nearWord(x, target); p != nil {
		logicalWord(p, fabric.OpLand, v)
		x.ctx.wakeIfDue(target)
		return
	}
	atomicSlow("AtomicLogicalAnd", x, fabric.OpLand, bits(v), target)
}

// AtomicFetchLogicalAnd does as [AtomicLogicalAnd] and returns the value before:
//
//	old = *x; *x = *x != 0 && v != 0; return old
//
// Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicFetchLogicalAnd[T Scalar](x Sym[T], v T, target int) T {
	if p := nearWord(x, target); p != nil {
		old := logicalWord(p, fabric.OpLand, v)
		x.ctx.wakeIfDue(target)
		return old
	}
	return fetchSlow("AtomicFetchLogicalAnd", x, fabric.OpLand, bits(v), 0, target)
}

// AtomicLogicalOr stores 1 in x on PE target if x or v is nonzero, else 0:
//
//	*x = *x != 0 || v != 0
//
// It returns before that is visible; Quiet and barriers complete it. Beyond
// OpenSHMEM 1.6, 9.7.1.
func AtomicLogicalOr[T Scalar](x Sym[T], v T, target int) {
	if p := nearWord(x, target); p != nil {
		logicalWord(p, fabric.OpLor, v)
		x.ctx.wakeIfDue(target)
		return
	}
	atomicSlow("AtomicLogicalOr", x, fabric.OpLor, bits(v), target)
}

// AtomicFetchLogicalOr does as [AtomicLogicalOr] and returns the value before:
//
//	old = *x; *x = *x != 0 || v != 0; return old
//
// Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicFetchLogicalOr[T Scalar](x Sym[T], v T, target int) T {
	if p := nearWord(x, target); p != nil {
		old := logicalWord(p, fabric.OpLor, v)
		x.ctx.wakeIfDue(target)
		return old
	}
	return fetchSlow("AtomicFetchLogicalOr", x, fabric.OpLor, bits(v), 0, target)
}

// AtomicLogicalXor stores 1 in x on PE target if one of x and v is nonzero, but
// not both, else 0:
//
//	*x = (*x != 0) != (v != 0)
//
// It returns before that is visible; Quiet and barriers complete it. Beyond
// OpenSHMEM 1.6, 9.7.1.
func AtomicLogicalXor[T Scalar](x Sym[T], v T, target int) {
	if p := nearWord(x, target); p != nil {
		logicalWord(p, fabric.OpLxor, v)
		x.ctx.wakeIfDue(target)
		return
	}
	atomicSlow("AtomicLogicalXor", x, fabric.OpLxor, bits(v), target)
}

// AtomicFetchLogicalXor does as [AtomicLogicalXor] and returns the value before:
//
//	old = *x; *x = (*x != 0) != (v != 0); return old
//
// Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicFetchLogicalXor[T Scalar](x Sym[T], v T, target int) T {
	if p := nearWord(x, target); p != nil {
		old := logicalWord(p, fabric.OpLxor, v)
		x.ctx.wakeIfDue(target)
		return old
	}
	return fetchSlow("AtomicFetchLogicalXor", x, fabric.OpLxor, bits(v), 0, target)
}

// nearWord returns the address of x on PE target if x is a valid object of one
// element that CPU atomics reach there, else nil.
func nearWord[T any](x Sym[T], target int) pointer {
	if x.n != 1 {
		return nil
	}
	return x.ctx.word(target, x.off, x.obj.live)
}

// wakeIfDue wakes near PE target if someone sleeps.
func (ctx *Context) wakeIfDue(target int) {
	if ctx.w.Due() {
		ctx.wake(target)
	}
}

// The words' functions return what the word held. Their meaning is that of
// [fabric.Apply]. Where a number is the minimum or maximum already, it is only read.

func minWord[T Ordered](p pointer, v T) T {
	for {
		old := loadWord[T](p)
		if !(v < old || old != old) || casWord(p, old, v) {
			return old
		}
	}
}

func maxWord[T Ordered](p pointer, v T) T {
	for {
		old := loadWord[T](p)
		if !(v > old || old != old) || casWord(p, old, v) {
			return old
		}
	}
}

func prodWord[T Scalar](p pointer, v T) T {
	for {
		if old := loadWord[T](p); casWord(p, old, old*v) {
			return old
		}
	}
}

func logicalWord[T Scalar](p pointer, op fabric.Op, v T) T {
	for {
		old := loadWord[T](p)
		a, b := old != 0, v != 0
		var next T
		if op == fabric.OpLand && a && b || op == fabric.OpLor && (a || b) || op == fabric.OpLxor && a != b {
			next = 1
		}
		if casWord(p, old, next) {
			return old
		}
	}
}
