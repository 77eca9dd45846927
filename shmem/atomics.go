// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"reflect"

	"github.com/goshmem/goshmem/fabric"
)

// Atomics act on objects of one element. They are atomic with respect to all
// atomics, signals and waits on the same word as the same type, on every PE and
// context. They order nothing else. All of them panic if x is zero, freed, or
// not of one element, or if target is out of range.
//
// On near PEs a word of 4 or 8 bytes takes one instruction (exclusive or: a
// compare-and-swap loop), and one of 1 or 2 bytes a compare-and-swap loop on
// the aligned four bytes around it, whose other bytes keep their values.

// AtomicFetch returns the value of x on PE target:
//
//	return *x
//
// OpenSHMEM 1.6, 9.7.1.
func AtomicFetch[T Scalar](x Sym[T], target int) T {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			return loadWord[T](p)
		}
	}
	return fetchSlow("AtomicFetch", x, fabric.OpRead, 0, 0, target)
}

// AtomicSet stores v in x on PE target:
//
//	*x = v
//
// It returns before that is visible; Quiet and barriers complete it.
// OpenSHMEM 1.6, 9.7.1.
func AtomicSet[T Scalar](x Sym[T], v T, target int) {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			storeWord(p, v)
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return
		}
	}
	atomicSlow("AtomicSet", x, fabric.OpWrite, bits(v), target)
}

// AtomicSwap stores v in x on PE target and returns the value before:
//
//	old = *x; *x = v; return old
//
// OpenSHMEM 1.6, 9.7.1.
func AtomicSwap[T Scalar](x Sym[T], v T, target int) T {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			old := swapWord(p, v)
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return old
		}
	}
	return fetchSlow("AtomicSwap", x, fabric.OpWrite, bits(v), 0, target)
}

// AtomicCompareSwap stores v in x on PE target if x equals cond, and returns
// the value before:
//
//	old = *x; if old == cond { *x = v }; return old
//
// OpenSHMEM 1.6, 9.7.1.
func AtomicCompareSwap[T Integer](x Sym[T], cond, v T, target int) T {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			old := compareSwapWord(p, cond, v)
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return old
		}
	}
	return fetchSlow("AtomicCompareSwap", x, fabric.OpCswap, bits(v), bits(cond), target)
}

// AtomicAdd adds v to x on PE target:
//
//	*x = *x + v
//
// It returns before that is visible; Quiet and barriers complete it. Integers wrap.
// OpenSHMEM 1.6, 9.7.1; floating-point and complex numbers are beyond it.
func AtomicAdd[T Scalar](x Sym[T], v T, target int) {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			if isInteger64[T]() {
				add64(p, v)
			} else {
				addOther(p, v)
			}
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return
		}
	}
	atomicSlow("AtomicAdd", x, fabric.OpSum, bits(v), target)
}

// AtomicFetchAdd adds v to x on PE target and returns the value before:
//
//	old = *x; *x = old + v; return old
//
// Integers wrap. OpenSHMEM 1.6, 9.7.1; floating-point and complex numbers are
// beyond it.
func AtomicFetchAdd[T Scalar](x Sym[T], v T, target int) (old T) {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			if isInteger64[T]() {
				old = add64(p, v)
			} else {
				old = addOther(p, v)
			}
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return old
		}
	}
	return fetchSlow("AtomicFetchAdd", x, fabric.OpSum, bits(v), 0, target)
}

// AtomicAnd combines x on PE target with v by bitwise and:
//
//	*x = *x & v
//
// It returns before that is visible; Quiet and barriers complete it.
// OpenSHMEM 1.6, 9.7.1.
func AtomicAnd[T Bitwise](x Sym[T], v T, target int) {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			andWord(p, v)
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return
		}
	}
	atomicSlow("AtomicAnd", x, fabric.OpBand, bits(v), target)
}

// AtomicFetchAnd combines x on PE target with v by bitwise and and returns the value before:
//
//	old = *x; *x = old & v; return old
//
// OpenSHMEM 1.6, 9.7.1.
func AtomicFetchAnd[T Bitwise](x Sym[T], v T, target int) T {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			old := andWord(p, v)
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return old
		}
	}
	return fetchSlow("AtomicFetchAnd", x, fabric.OpBand, bits(v), 0, target)
}

// AtomicOr combines x on PE target with v by bitwise or:
//
//	*x = *x | v
//
// It returns before that is visible; Quiet and barriers complete it.
// OpenSHMEM 1.6, 9.7.1.
func AtomicOr[T Bitwise](x Sym[T], v T, target int) {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			orWord(p, v)
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return
		}
	}
	atomicSlow("AtomicOr", x, fabric.OpBor, bits(v), target)
}

// AtomicFetchOr combines x on PE target with v by bitwise or and returns the value before:
//
//	old = *x; *x = old | v; return old
//
// OpenSHMEM 1.6, 9.7.1.
func AtomicFetchOr[T Bitwise](x Sym[T], v T, target int) T {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			old := orWord(p, v)
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return old
		}
	}
	return fetchSlow("AtomicFetchOr", x, fabric.OpBor, bits(v), 0, target)
}

// AtomicXor combines x on PE target with v by bitwise exclusive or:
//
//	*x = *x ^ v
//
// It returns before that is visible; Quiet and barriers complete it.
// OpenSHMEM 1.6, 9.7.1.
func AtomicXor[T Bitwise](x Sym[T], v T, target int) {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			xorWord(p, v)
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return
		}
	}
	atomicSlow("AtomicXor", x, fabric.OpBxor, bits(v), target)
}

// AtomicFetchXor combines x on PE target with v by bitwise exclusive or and returns the value before:
//
//	old = *x; *x = old ^ v; return old
//
// OpenSHMEM 1.6, 9.7.1.
func AtomicFetchXor[T Bitwise](x Sym[T], v T, target int) T {
	if x.n == 1 {
		if p := x.ctx.word(target, x.off, x.obj.live); p != nil {
			old := xorWord(p, v)
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return old
		}
	}
	return fetchSlow("AtomicFetchXor", x, fabric.OpBxor, bits(v), 0, target)
}

// AtomicInc adds 1 to x on PE target, as AtomicAdd does. OpenSHMEM 1.6, 9.7.1.
func AtomicInc[T Integer](x Sym[T], target int) { AtomicAdd(x, 1, target) }

// AtomicFetchInc adds 1 to x on PE target and returns the value before, as
// AtomicFetchAdd does. OpenSHMEM 1.6, 9.7.1.
func AtomicFetchInc[T Integer](x Sym[T], target int) T { return AtomicFetchAdd(x, 1, target) }

// compareSwapWord stores v at p if the word has cond's bits, and returns what it held.
func compareSwapWord[T Scalar](p pointer, cond, v T) T {
	for {
		if casWord(p, cond, v) {
			return cond
		}
		// A failed exchange does not tell what it saw. What a load sees is as
		// good, unless it is cond again.
		if old := loadWord[T](p); bits(old) != bits(cond) {
			return old
		}
	}
}

//go:noinline
func atomicSlow[T Scalar](name string, x Sym[T], op fabric.Op, v uint64, target int) {
	x.checkScalar(name, target)
	x.ctx.must(name, target, x.ctx.w.Endpoint().Atomic(x.ctx.world(target), op, datatypeOf[T](), x.off, v))
}

//go:noinline
func fetchSlow[T Scalar](name string, x Sym[T], op fabric.Op, v, cmp uint64, target int) T {
	x.checkScalar(name, target)
	old, err := x.ctx.w.Endpoint().FetchAtomic(x.ctx.world(target), op, datatypeOf[T](), x.off, v, cmp)
	x.ctx.must(name, target, err)
	return fromBits[T](old)
}

// datatypeOf returns the fabric's name of T.
func datatypeOf[T Scalar]() fabric.Datatype {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Float32:
		return fabric.Float32
	case reflect.Float64:
		return fabric.Float64
	case reflect.Complex64:
		return fabric.Complex64
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return integerOf(sizeof[T](), true)
	default:
		return integerOf(sizeof[T](), false)
	}
}

// kindOf returns T's kind, to tell apart types of one size in a mismatch.
func kindOf[T any]() uint8 { return uint8(reflect.TypeFor[T]().Kind()) }

// integerOf returns the integer type of size bytes.
func integerOf(size uintptr, signed bool) fabric.Datatype {
	var dt fabric.Datatype
	switch size {
	case 1:
		dt = fabric.Int8
	case 2:
		dt = fabric.Int16
	case 4:
		dt = fabric.Int32
	default:
		dt = fabric.Int64
	}
	if !signed {
		dt++ // each unsigned type follows the signed one
	}
	return dt
}
