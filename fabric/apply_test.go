// SPDX-License-Identifier: BSD-3-Clause

package fabric_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goshmem/goshmem/fabric"
)

// word is what the tests know about a Go type that a word can be read as.
type word[T any] struct {
	dt   fabric.Datatype
	bits func(T) uint64
	from func(uint64) T
}

func low(size uint8) uint64 {
	if size >= 8 {
		return math.MaxUint64
	}
	return 1<<(8*size) - 1
}

func integers[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](dt fabric.Datatype) word[T] {
	return word[T]{
		dt,
		func(v T) uint64 { return uint64(v) & low(dt.Size()) },
		func(b uint64) T { return T(b) },
	}
}

// interesting are bits that meet the edges of all types; the rest is random.
var interesting = [...]uint64{
	0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	0x7fffffffffffffff, 0x8000000000000000, math.MaxUint64,
	uint64(math.Float32bits(1.5)), math.Float64bits(-2.25),
	uint64(math.Float32bits(float32(math.NaN()))), math.Float64bits(math.NaN()),
	uint64(math.Float32bits(float32(math.Inf(-1)))), math.Float64bits(math.Inf(1)),
}

// triples calls f with operands: every pair of the interesting ones under some
// comparand, and random ones, half of them with two operands equal.
func triples(f func(old, v, cmp uint64)) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, old := range interesting {
		for _, v := range interesting {
			f(old, v, interesting[r.IntN(len(interesting))])
			f(old, v, old)
		}
	}
	for range 300 {
		old, v, cmp := r.Uint64(), r.Uint64(), r.Uint64()
		f(old, v, cmp)
		f(old, v, old)
	}
}

// check compares Apply with want, which does the operation in the type itself.
func check[T any](t *testing.T, op fabric.Op, w word[T], want func(old, v, cmp T) T) {
	t.Helper()
	triples(func(old, v, cmp uint64) {
		got := fabric.Apply(op, w.dt, old, v, cmp)
		exp := w.bits(want(w.from(old), w.from(v), w.from(cmp)))
		if got != exp && !(isNaN(w.dt, got) && isNaN(w.dt, exp)) {
			t.Fatalf("%v on %v: old %#x, operand %#x, comparand %#x: got %#x, want %#x", op, w.dt, old, v, cmp, got, exp)
		}
	})
}

// isNaN: which NaN an operation on NaNs gives is the processor's affair.
func isNaN(dt fabric.Datatype, bits uint64) bool {
	nan := func(f float32) bool { return f != f }
	switch dt {
	case fabric.Float32:
		return nan(math.Float32frombits(uint32(bits)))
	case fabric.Float64:
		return math.IsNaN(math.Float64frombits(bits))
	case fabric.Complex64:
		return nan(math.Float32frombits(uint32(bits))) || nan(math.Float32frombits(uint32(bits>>32)))
	}
	return false
}

func pick[T any](hit bool, a, b T) T {
	if hit {
		return a
	}
	return b
}

func testOrdered[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64](t *testing.T, w word[T]) {
	t.Helper()
	check(t, fabric.OpSum, w, func(o, v, _ T) T { return o + v })
	check(t, fabric.OpProd, w, func(o, v, _ T) T { return o * v })
	check(t, fabric.OpMin, w, func(o, v, _ T) T { return pick(v < o || o != o, v, o) })
	check(t, fabric.OpMax, w, func(o, v, _ T) T { return pick(v > o || o != o, v, o) })
	check(t, fabric.OpLor, w, func(o, v, _ T) T { return pick[T](o != 0 || v != 0, 1, 0) })
	check(t, fabric.OpLand, w, func(o, v, _ T) T { return pick[T](o != 0 && v != 0, 1, 0) })
	check(t, fabric.OpLxor, w, func(o, v, _ T) T { return pick[T]((o != 0) != (v != 0), 1, 0) })
	check(t, fabric.OpWrite, w, func(_, v, _ T) T { return v })
	check(t, fabric.OpRead, w, func(o, _, _ T) T { return o })
	check(t, fabric.OpCswap, w, func(o, v, c T) T { return pick(w.bits(c) == w.bits(o), v, o) })
	check(t, fabric.OpCswapNE, w, func(o, v, c T) T { return pick(c != o, v, o) })
	check(t, fabric.OpCswapLE, w, func(o, v, c T) T { return pick(c <= o, v, o) })
	check(t, fabric.OpCswapLT, w, func(o, v, c T) T { return pick(c < o, v, o) })
	check(t, fabric.OpCswapGE, w, func(o, v, c T) T { return pick(c >= o, v, o) })
	check(t, fabric.OpCswapGT, w, func(o, v, c T) T { return pick(c > o, v, o) })
}

func testInteger[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](t *testing.T, dt fabric.Datatype) {
	t.Helper()
	w := integers[T](dt)
	testOrdered(t, w)
	check(t, fabric.OpBor, w, func(o, v, _ T) T { return o | v })
	check(t, fabric.OpBand, w, func(o, v, _ T) T { return o & v })
	check(t, fabric.OpBxor, w, func(o, v, _ T) T { return o ^ v })
	check(t, fabric.OpMswap, w, func(o, v, mask T) T { return v&mask | o&^mask })
}

func TestApply_Integers(t *testing.T) {
	testInteger[int8](t, fabric.Int8)
	testInteger[uint8](t, fabric.Uint8)
	testInteger[int16](t, fabric.Int16)
	testInteger[uint16](t, fabric.Uint16)
	testInteger[int32](t, fabric.Int32)
	testInteger[uint32](t, fabric.Uint32)
	testInteger[int64](t, fabric.Int64)
	testInteger[uint64](t, fabric.Uint64)
}

func TestApply_Floats(t *testing.T) {
	testOrdered(t, word[float32]{
		fabric.Float32,
		func(v float32) uint64 { return uint64(math.Float32bits(v)) },
		func(b uint64) float32 { return math.Float32frombits(uint32(b)) },
	})
	testOrdered(t, word[float64]{fabric.Float64, math.Float64bits, math.Float64frombits})
}

func TestApply_Complex64(t *testing.T) {
	w := word[complex64]{
		fabric.Complex64,
		func(c complex64) uint64 {
			var b [8]byte
			_, _ = binary.Encode(b[:], binary.NativeEndian, c)
			return binary.NativeEndian.Uint64(b[:])
		},
		func(bits uint64) (c complex64) {
			var b [8]byte
			binary.NativeEndian.PutUint64(b[:], bits)
			_, _ = binary.Decode(b[:], binary.NativeEndian, &c)
			return c
		},
	}
	check(t, fabric.OpSum, w, func(o, v, _ complex64) complex64 { return o + v })
	check(t, fabric.OpProd, w, func(o, v, _ complex64) complex64 { return o * v })
	check(t, fabric.OpLor, w, func(o, v, _ complex64) complex64 { return pick[complex64](o != 0 || v != 0, 1, 0) })
	check(t, fabric.OpLand, w, func(o, v, _ complex64) complex64 { return pick[complex64](o != 0 && v != 0, 1, 0) })
	check(t, fabric.OpLxor, w, func(o, v, _ complex64) complex64 { return pick[complex64]((o != 0) != (v != 0), 1, 0) })
	check(t, fabric.OpWrite, w, func(_, v, _ complex64) complex64 { return v })
	check(t, fabric.OpRead, w, func(o, _, _ complex64) complex64 { return o })
	check(t, fabric.OpCswap, w, func(o, v, c complex64) complex64 { return pick(w.bits(c) == w.bits(o), v, o) })
	check(t, fabric.OpCswapNE, w, func(o, v, c complex64) complex64 { return pick(c != o, v, o) })
}

// Min and max are C's fmin and fmax: a NaN never wins over a number.
func TestApply_MinMaxTakeTheNumber(t *testing.T) {
	nan, three := math.Float64bits(math.NaN()), math.Float64bits(3)
	for _, op := range []fabric.Op{fabric.OpMin, fabric.OpMax} {
		for _, operands := range [][2]uint64{{nan, three}, {three, nan}, {three, three}} {
			if got := fabric.Apply(op, fabric.Float64, operands[0], operands[1], 0); got != three {
				t.Errorf("%v of %v and %v: got %v, want 3", op, math.Float64frombits(operands[0]),
					math.Float64frombits(operands[1]), math.Float64frombits(got))
			}
		}
		if got := fabric.Apply(op, fabric.Float64, nan, nan, 0); !isNaN(fabric.Float64, got) {
			t.Errorf("%v of two NaNs: got %v, want NaN", op, math.Float64frombits(got))
		}
	}
}

// The table is the one that was measured on libfabric's software providers.
func TestApplies_AsFiAtomicHasThem(t *testing.T) {
	pairs := map[fabric.Datatype]int{
		fabric.Float32: 15, fabric.Float64: 15, fabric.Complex64: 9, fabric.Complex128: 0,
	}
	for dt := fabric.Int8; dt <= fabric.Uint64; dt++ {
		pairs[dt] = 19
	}
	for dt, want := range pairs {
		got := 0
		for op := range fabric.Op(fabric.NumOps) {
			if fabric.Applies(op, dt) {
				got++
			}
		}
		if got != want {
			t.Errorf("%d operations apply to %v, want %d", got, dt, want)
		}
	}
	for _, none := range []struct {
		op fabric.Op
		dt fabric.Datatype
	}{
		{fabric.OpBand, fabric.Float64},
		{fabric.OpMswap, fabric.Float32},
		{fabric.OpMin, fabric.Complex64},
		{fabric.OpCswapLT, fabric.Complex64},
		{fabric.OpWrite, fabric.Complex128},
		{fabric.NumOps, fabric.Int32},
		{fabric.OpSum, fabric.NumDatatypes},
	} {
		if fabric.Applies(none.op, none.dt) {
			t.Errorf("%v applies to %v", none.op, none.dt)
		}
		if got := fabric.Apply(none.op, none.dt, 42, 1, 0); got != 42 {
			t.Errorf("%v on %v changed 42 to %d", none.op, none.dt, got)
		}
	}
}
