// SPDX-License-Identifier: BSD-3-Clause

package fabric

import (
	"encoding/binary"
	"math"
)

// Applies reports whether op exists on words of type dt: fi_atomic(3)'s table,
// without the 16-byte types.
//
//	integers         all
//	float32, float64 all but the bitwise ones and mswap
//	complex64        sum, prod, the logical ones, write, read, cswap, cswap_ne
//	complex128       none
func Applies(op Op, dt Datatype) bool {
	switch {
	case op >= NumOps:
		return false
	case dt.Integer():
		return true
	case dt == Float32, dt == Float64:
		return op != OpBor && op != OpBand && op != OpBxor && op != OpMswap
	case dt == Complex64:
		switch op {
		case OpSum, OpProd, OpLor, OpLand, OpLxor, OpWrite, OpRead, OpCswap, OpCswapNE:
			return true
		}
	}
	return false
}

// Apply returns the bits that a dt-typed word has after op, zero-extended. old
// holds the word's bits, v the operand's, cmp the comparand's or the mask's, each in the low
// bytes; what lies above them is ignored. It is the meaning of every atomic:
//
//	word = Apply(op, dt, word, v, cmp)
//
// Integers wrap. [OpMin] and [OpMax] of a number and a NaN are the number, and
// the word stays as it is where v equals it. [OpCswap] compares bits, so a NaN
// equals itself and 0 differs from -0; its kin compare values. The logical
// operations give 1 or 0.
//
// Apply returns old if [Applies] does not hold.
func Apply(op Op, dt Datatype, old, v, cmp uint64) uint64 {
	if !Applies(op, dt) {
		return old
	}
	old, v, cmp = dt.truncate(old), dt.truncate(v), dt.truncate(cmp)
	switch op {
	case OpRead:
		return old
	case OpWrite:
		return v
	case OpCswap:
		return swapIf(cmp == old, old, v)
	}
	switch dt {
	case Float32:
		w, x, c := math.Float32frombits(uint32(old)), math.Float32frombits(uint32(v)), math.Float32frombits(uint32(cmp))
		if op.Compares() {
			return swapIf(ordered(op, w, c), old, v)
		}
		return uint64(math.Float32bits(float(op, w, x)))
	case Float64:
		w, x, c := math.Float64frombits(old), math.Float64frombits(v), math.Float64frombits(cmp)
		if op.Compares() {
			return swapIf(ordered(op, w, c), old, v)
		}
		return math.Float64bits(float(op, w, x))
	case Complex64:
		w, x := complexFrom(old), complexFrom(v)
		if op == OpCswapNE {
			return swapIf(complexFrom(cmp) != w, old, v)
		}
		return complexBits(complexApply(op, w, x))
	}
	if op == OpMswap {
		return v&cmp | old&^cmp
	}
	if dt.Signed() {
		w, x, c := dt.signExtend(old), dt.signExtend(v), dt.signExtend(cmp)
		if op.Compares() {
			return swapIf(ordered(op, w, c), old, v)
		}
		return dt.truncate(uint64(integer(op, w, x)))
	}
	if op.Compares() {
		return swapIf(ordered(op, old, cmp), old, v)
	}
	return dt.truncate(integer(op, old, v))
}

func swapIf(hit bool, old, v uint64) uint64 {
	if hit {
		return v
	}
	return old
}

// ordered reports whether "c op w" holds, as libfabric orders the operands.
func ordered[T int64 | uint64 | float32 | float64](op Op, w, c T) bool {
	switch op {
	case OpCswapNE:
		return c != w
	case OpCswapLE:
		return c <= w
	case OpCswapLT:
		return c < w
	case OpCswapGE:
		return c >= w
	case OpCswapGT:
		return c > w
	}
	return false
}

// integer works at 64 bits: a narrower result is the low part of the wide one,
// because both operands have been extended by their own sign.
func integer[T int64 | uint64](op Op, w, x T) T {
	switch op {
	case OpMin:
		return min(w, x)
	case OpMax:
		return max(w, x)
	case OpSum:
		return w + x
	case OpProd:
		return w * x
	case OpBor:
		return w | x
	case OpBand:
		return w & x
	case OpBxor:
		return w ^ x
	case OpLor:
		return truth[T](w != 0 || x != 0)
	case OpLand:
		return truth[T](w != 0 && x != 0)
	case OpLxor:
		return truth[T]((w != 0) != (x != 0))
	}
	return w
}

// float cannot use the built-in min and max, which take the NaN.
func float[T float32 | float64](op Op, w, x T) T {
	switch op {
	case OpMin:
		if x < w || w != w {
			return x
		}
	case OpMax:
		if x > w || w != w {
			return x
		}
	case OpSum:
		return w + x
	case OpProd:
		return w * x
	case OpLor:
		return truth[T](w != 0 || x != 0)
	case OpLand:
		return truth[T](w != 0 && x != 0)
	case OpLxor:
		return truth[T]((w != 0) != (x != 0))
	}
	return w
}

func complexApply(op Op, w, x complex64) complex64 {
	switch op {
	case OpSum:
		return w + x
	case OpProd:
		return w * x
	case OpLor:
		return complex(truth[float32](w != 0 || x != 0), 0)
	case OpLand:
		return complex(truth[float32](w != 0 && x != 0), 0)
	case OpLxor:
		return complex(truth[float32]((w != 0) != (x != 0)), 0)
	}
	return w
}

func truth[T int64 | uint64 | float32 | float64](b bool) T {
	if b {
		return 1
	}
	return 0
}

// complexFrom and complexBits go through memory's layout: the real part has the
// lower address on every machine.
func complexFrom(bits uint64) complex64 {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], bits)
	re, im := binary.NativeEndian.Uint32(b[:4]), binary.NativeEndian.Uint32(b[4:])
	return complex(math.Float32frombits(re), math.Float32frombits(im))
}

func complexBits(c complex64) uint64 {
	var b [8]byte
	binary.NativeEndian.PutUint32(b[:4], math.Float32bits(real(c)))
	binary.NativeEndian.PutUint32(b[4:], math.Float32bits(imag(c)))
	return binary.NativeEndian.Uint64(b[:])
}
