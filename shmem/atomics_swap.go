// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "github.com/goshmem/goshmem/fabric"

// AtomicMaskedSwap replaces those bits of x on PE target that are set in mask by
// v's, and returns the value before:
//
//	old = *x; *x = v&mask | old&^mask; return old
//
// Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicMaskedSwap[T Bitwise](x Sym[T], mask, v T, target int) T {
	if p := nearWord(x, target); p != nil {
		old := maskedSwapWord(p, mask, v)
		x.ctx.wakeIfDue(target)
		return old
	}
	return fetchSlow("AtomicMaskedSwap", x, fabric.OpMswap, bits(v), bits(mask), target)
}

// AtomicCompareSwapIf stores v in x on PE target if x compares to cond as cmp
// says, and returns the value before:
//
//	old = *x; if old cmp cond { *x = v }; return old
//
// The word is on the left, as [WaitUntil] has it: CmpLT swaps if the word is less
// than cond. Values compare as Go's operators compare them: 0 equals -0, and a NaN
// differs from everything, itself included. Complex numbers have no order: for them cmp is
// CmpEQ or CmpNE.
//
// AtomicCompareSwapIf also panics if cmp is none of the six, or orders complex
// numbers. Beyond OpenSHMEM 1.6, 9.7.1.
func AtomicCompareSwapIf[T Scalar](x Sym[T], cmp Cmp, cond, v T, target int) T {
	dt := datatypeOf[T]()
	op := swapIf[min(cmp, CmpLE+1)]
	if !fabric.Applies(op, dt) {
		refuseSwapIf(x, cmp, target)
	}
	if cmp == CmpEQ {
		return swapIfEqual(x, cond, v, target)
	}
	if p := nearWord(x, target); p != nil {
		old := applyWord(p, op, dt, v, cond)
		x.ctx.wakeIfDue(target)
		return old
	}
	return fetchSlow("AtomicCompareSwapIf", x, op, bits(v), bits(cond), target)
}

// swapIf are the fabric's operations, by comparison. There the word is on the
// right: it is less than cond where cond is greater.
var swapIf = [...]fabric.Op{
	CmpEQ: fabric.OpCswap, CmpNE: fabric.OpCswapNE,
	CmpGT: fabric.OpCswapLT, CmpGE: fabric.OpCswapLE,
	CmpLT: fabric.OpCswapGT, CmpLE: fabric.OpCswapGE,
	CmpLE + 1: fabric.NumOps, // none
}

// swapIfEqual compares values by an operation that compares bits.
func swapIfEqual[T Scalar](x Sym[T], cond, v T, target int) T {
	if cond != cond { // nothing equals a NaN
		if p := nearWord(x, target); p != nil {
			return loadWord[T](p)
		}
		return fetchSlow("AtomicCompareSwapIf", x, fabric.OpRead, 0, 0, target)
	}
	for {
		old := compareSwapBits(x, cond, v, target)
		if old != cond || bits(old) == bits(cond) {
			return old
		}
		cond = old // the other zero
	}
}

// compareSwapBits is AtomicCompareSwap for every type, by bits.
func compareSwapBits[T Scalar](x Sym[T], cond, v T, target int) T {
	if p := nearWord(x, target); p != nil {
		old := compareSwapWord(p, cond, v)
		x.ctx.wakeIfDue(target)
		return old
	}
	return fetchSlow("AtomicCompareSwapIf", x, fabric.OpCswap, bits(v), bits(cond), target)
}

func maskedSwapWord[T Bitwise](p pointer, mask, v T) T {
	for {
		if old := loadWord[T](p); casWord(p, old, v&mask|old&^mask) {
			return old
		}
	}
}

// applyWord makes the word what the fabric's atomics would make it, and returns
// what it held.
func applyWord[T Scalar](p pointer, op fabric.Op, dt fabric.Datatype, v, cmp T) T {
	for {
		old := loadWord[T](p)
		next := fabric.Apply(op, dt, bits(old), bits(v), bits(cmp))
		if next == bits(old) || casWord(p, old, fromBits[T](next)) {
			return old
		}
	}
}

//go:noinline
func refuseSwapIf[T Scalar](x Sym[T], cmp Cmp, target int) {
	const op = "AtomicCompareSwapIf"
	x.checkScalar(op, target)
	if cmp.Valid() {
		x.refuse(op, target, "complex numbers have no order: %v is neither CmpEQ nor CmpNE", cmp)
	}
	x.checkWait(op, cmp)
}
