// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"math"

	"github.com/goshmem/goshmem/shmem"
)

// beyondRows are about atomics that the specification does not have.
func beyondRows() []row {
	return []row{
		{
			sec: "9.7.1", name: "min and max (beyond the specification): every type with an order, by its sign",
			faults: []fault{lostAtomics, lostFetches},
			run: func(pe *shmem.PE) error {
				return first(
					minMax(pe, int8(-128), -1, 127), minMax(pe, uint8(0), 127, 255), minMax(pe, int16(-300), 0, 300), minMax(pe, uint16(1), 2, 65535),
					minMax(pe, int32(-1<<31), -1, 1<<31-1), minMax(pe, uint32(0), 1<<31, 1<<32-1), minMax(pe, int64(-1<<63), 0, 1<<63-1), minMax(pe, uint64(0), 1, 1<<64-1),
					minMax(pe, -3, 4, 5), minMax(pe, uint(3), 4, 5), minMax(pe, uintptr(3), 4, 5),
					minMax(pe, float32(math.Inf(-1)), -0.5, 1e30), minMax(pe, -1e300, 0.1, math.Inf(1)),
				)
			},
		},
		{
			sec: "9.7.1", name: "min and max (beyond the specification): of a number and a NaN are the number",
			faults: []fault{lostAtomics, lostFetches},
			run:    func(pe *shmem.PE) error { return first(minMaxNaN[float32](pe), minMaxNaN[float64](pe)) },
		},
		{
			sec: "9.7.1", name: "prod, and add of what is no integer (beyond the specification): every type, integers wrap",
			faults: []fault{lostAtomics, lostFetches},
			run: func(pe *shmem.PE) error {
				return first(
					product(pe, int8(100), 3, 44), product(pe, uint8(20), 13, 4), product(pe, int16(-300), 200, 5536), product(pe, uint16(256), 256, 0),
					product(pe, int32(1<<30), 6, -1<<31), product(pe, uint32(1<<31), 3, 1<<31), product(pe, int64(-3), 5, -15), product(pe, uint64(1<<63), 2, 0),
					product(pe, -7, 6, -42), product(pe, uint(7), 6, 42), product(pe, uintptr(7), 6, 42),
					product(pe, float32(1.5), -2, -3), product(pe, 0.5, 0.25, 0.125), product(pe, complex64(1+2i), 3-1i, 5+5i),
					addFloats(pe, float32(0.25), -1.5), addFloats(pe, 1e100, 1e100), addFloats(pe, complex64(1-1i), 2+3i),
				)
			},
		},
		{
			sec: "9.7.1", name: "logical and, or, xor (beyond the specification): whether a word is nonzero, as 1 or 0, for every type",
			faults: []fault{lostAtomics, lostFetches},
			run: func(pe *shmem.PE) error {
				return first(
					logical[int8](pe), logical[uint8](pe), logical[int16](pe), logical[uint16](pe), logical[int32](pe), logical[uint32](pe),
					logical[int64](pe), logical[uint64](pe), logical[int](pe), logical[uint](pe), logical[uintptr](pe),
					logical[float32](pe), logical[float64](pe), logical[complex64](pe),
				)
			},
		},
		{
			sec: "9.7.1", name: "masked swap (beyond the specification): the bits under the mask, for every integer type",
			faults: []fault{lostFetches},
			run: func(pe *shmem.PE) error {
				return first(
					maskedSwap[int8](pe), maskedSwap[uint8](pe), maskedSwap[int16](pe), maskedSwap[uint16](pe), maskedSwap[int32](pe),
					maskedSwap[uint32](pe), maskedSwap[int64](pe), maskedSwap[uint64](pe), maskedSwap[int](pe), maskedSwap[uint](pe), maskedSwap[uintptr](pe),
				)
			},
		},
		{
			sec: "9.7.1", name: "compare_swap_if (beyond the specification): every comparison of every type, the word on the left as in wait_until",
			faults: []fault{lostFetches},
			run: func(pe *shmem.PE) error {
				return first(
					swapIf[int8](pe, -128, -1, 127), swapIf[uint8](pe, 0, 127, 255), swapIf[int16](pe, -300, 0, 300), swapIf[uint16](pe, 1, 2, 65535),
					swapIf[int32](pe, -1<<31, -1, 1<<31-1), swapIf[uint32](pe, 0, 1<<31, 1<<32-1), swapIf[int64](pe, -1<<63, 0, 1<<63-1), swapIf[uint64](pe, 0, 1, 1<<64-1),
					swapIf(pe, -3, 4, 5), swapIf[uint](pe, 3, 4, 5), swapIf[uintptr](pe, 3, 4, 5),
					swapIf(pe, float32(math.Inf(-1)), -0.5, 1e30), swapIf(pe, math.NaN(), -1e300, 0.1), swapIf(pe, -1, math.Copysign(0, -1), 0),
				)
			},
		},
		{
			sec: "9.7.1", name: "compare_swap_if (beyond the specification): complex words, equal and not",
			faults: []fault{lostFetches},
			run: func(pe *shmem.PE) error {
				x, to := alloc[complex64](pe, 1), right(pe)
				zero, minus := complex64(0), complex(float32(math.Copysign(0, -1)), 0)
				return first(
					swapIfOnce(x, to, shmem.CmpEQ, 1+2i, 1+2i, true), swapIfOnce(x, to, shmem.CmpNE, 1+2i, 1+2i, false),
					swapIfOnce(x, to, shmem.CmpEQ, 1+2i, 1-2i, false), swapIfOnce(x, to, shmem.CmpNE, 1+2i, 1-2i, true),
					swapIfOnce(x, to, shmem.CmpEQ, zero, minus, true), swapIfOnce(x, to, shmem.CmpNE, zero, minus, false),
				)
			},
		},
		{
			sec: "9.7.1", name: "compare_swap_if (beyond the specification): an order of complex words and what is no comparison are refused",
			run: func(pe *shmem.PE) error {
				x, y := alloc[complex64](pe, 1), alloc[int32](pe, 1)
				return first(
					refused("less than", func() { shmem.AtomicCompareSwapIf(x, shmem.CmpLT, 1, 2, 0) }),
					refused("no comparison", func() { shmem.AtomicCompareSwapIf(y, shmem.CmpLE+1, 1, 2, 0) }),
				)
			},
		},
		{
			sec: "9.7.1", name: "min, max, prod, add, xor (beyond the specification): all PEs on neighbouring words of each width lose nothing",
			faults: []fault{everyOtherAtomicLost, lostFetches},
			run: func(pe *shmem.PE) error {
				return first(
					crowd[uint8](pe), crowd[int8](pe), crowd[int16](pe), crowd[uint16](pe), crowd[int32](pe), crowd[uint32](pe),
					crowd[int64](pe), crowd[uint64](pe), crowd[float32](pe), crowd[float64](pe),
				)
			},
		},
	}
}

// minMax takes low, between and high in their order.
func minMax[T shmem.Ordered](pe *shmem.PE, low, between, high T) error {
	x, target := alloc[T](pe, 3), right(pe)
	word := x.At(1)
	got := []T{shmem.AtomicSwap(word, between, target)}
	note := func(v T) { got = append(got, v) }
	note(shmem.AtomicFetchMax(word, low, target))
	note(shmem.AtomicFetchMax(word, high, target))
	note(shmem.AtomicFetchMin(word, high, target))
	note(shmem.AtomicFetchMin(word, low, target))
	note(shmem.AtomicFetch(word, target))
	shmem.AtomicMax(word, between, target)
	pe.Quiet()
	note(shmem.AtomicFetch(word, target))
	shmem.AtomicMin(word, high, target)
	shmem.AtomicMin(word, low, target)
	shmem.AtomicMax(word, low, target)
	pe.BarrierAll()
	return first(
		equal("values", got, []T{0, between, between, high, high, low, between}),
		equal("object", x.Local(), []T{0, low, 0}),
	)
}

func minMaxNaN[T float32 | float64](pe *shmem.PE) error {
	x, target := alloc[T](pe, 1), right(pe)
	nan := T(math.NaN())
	shmem.AtomicSwap(x, nan, target)
	first := shmem.AtomicFetchMin(x, 3, target)
	got := []T{shmem.AtomicFetchMax(x, nan, target), shmem.AtomicSwap(x, nan, target)}
	shmem.AtomicMax(x, -2, target)
	pe.Quiet()
	shmem.AtomicMin(x, nan, target)
	pe.BarrierAll()
	if first == first {
		return broken("fetched %v, want a NaN", first)
	}
	return equal("values", append(got, x.Local()[0]), []T{3, 3, -2})
}

// product multiplies twice, by one of each form.
func product[T shmem.Scalar](pe *shmem.PE, a, b, ab T) error {
	x, target := alloc[T](pe, 1), right(pe)
	shmem.AtomicSwap(x, a, target)
	got := []T{shmem.AtomicFetchProd(x, b, target), shmem.AtomicFetch(x, target)}
	shmem.AtomicSwap(x, b, target)
	shmem.AtomicProd(x, a, target)
	pe.BarrierAll()
	return equal("values", append(got, x.Local()[0]), []T{a, ab, ab})
}

func addFloats[T shmem.Scalar](pe *shmem.PE, a, b T) error {
	x, target, old := alloc[T](pe, 1), right(pe), new(T)
	got := []T{shmem.AtomicFetchAdd(x, a, target)}
	shmem.AtomicAdd(x, b, target)
	pe.Quiet()
	shmem.AtomicFetchAddNBI(old, x, b, target)
	pe.Quiet()
	pe.SyncAll()
	return equal("values", append(got, *old, x.Local()[0]), []T{0, a + b, a + b + b})
}

// logical goes through all four cases of each operation, in both forms.
func logical[T shmem.Scalar](pe *shmem.PE) error {
	x, target := alloc[T](pe, 4), right(pe)
	for _, op := range []struct {
		name  string
		fetch func(shmem.Sym[T], T, int) T
		plain func(shmem.Sym[T], T, int)
		want  []T // for words and values 0 0, 0 5, 5 0, 5 5
	}{
		{"and", shmem.AtomicFetchLogicalAnd[T], shmem.AtomicLogicalAnd[T], []T{0, 0, 0, 1}},
		{"or", shmem.AtomicFetchLogicalOr[T], shmem.AtomicLogicalOr[T], []T{0, 1, 1, 1}},
		{"xor", shmem.AtomicFetchLogicalXor[T], shmem.AtomicLogicalXor[T], []T{0, 1, 1, 0}},
	} {
		for _, plain := range []bool{false, true} {
			pe.BarrierAll()
			copy(x.Local(), []T{0, 0, 5, 5})
			pe.BarrierAll()
			var old []T
			for i := range 4 {
				v := []T{0, 5}[i%2]
				if plain {
					op.plain(x.At(i), v, target)
				} else {
					old = append(old, op.fetch(x.At(i), v, target))
				}
			}
			pe.BarrierAll()
			if err := equal(op.name, x.Local(), op.want); err != nil {
				return err
			}
			if !plain {
				if err := equal("old values of "+op.name, old, []T{0, 0, 5, 5}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func maskedSwap[T shmem.Bitwise](pe *shmem.PE) error {
	x, target := alloc[T](pe, 3), right(pe)
	word := x.At(1)
	shmem.AtomicSwap(word, 0b0110101, target)
	got := []T{
		shmem.AtomicMaskedSwap(word, 0b0001111, 0b1011010, target),
		shmem.AtomicMaskedSwap(word, 0, 0b1111111, target),
		shmem.AtomicMaskedSwap(word, ^T(0), 0b0000011, target),
	}
	pe.BarrierAll()
	return first(
		equal("old values", got, []T{0b0110101, 0b0111010, 0b0111010}),
		equal("object", x.Local(), []T{0, 3, 0}),
	)
}

// swapIf compares each of the values with each.
func swapIf[T shmem.Ordered](pe *shmem.PE, values ...T) error {
	x := alloc[T](pe, 1)
	for _, word := range values {
		for _, cond := range values {
			for c, holds := range map[shmem.Cmp]bool{
				shmem.CmpEQ: word == cond, shmem.CmpNE: word != cond,
				shmem.CmpGT: word > cond, shmem.CmpGE: word >= cond,
				shmem.CmpLT: word < cond, shmem.CmpLE: word <= cond,
			} {
				if err := swapIfOnce(x, right(pe), c, word, cond, holds); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// swapIfOnce swaps in 42 if the target's word compares to cond.
func swapIfOnce[T shmem.Scalar](x shmem.Sym[T], target int, c shmem.Cmp, word, cond T, holds bool) error {
	shmem.AtomicSwap(x, word, target)
	old := shmem.AtomicCompareSwapIf(x, c, cond, 42, target)
	left := shmem.AtomicFetch(x, target)
	same := func(a, b T) bool { return a == b || a != a && b != b }
	want := word
	if holds {
		want = 42
	}
	if !same(old, word) || !same(left, want) {
		return broken("%v %v %v: fetched %v, and the word is %v, want %v", word, c, cond, old, left, want)
	}
	return nil
}

// crowd lets all PEs update the first PE's words, which lie next to each other.
func crowd[T shmem.Ordered](pe *shmem.PE) error {
	const each = 5
	x, n := alloc[T](pe, 6), pe.NPEs()
	if pe.MyPE() == 0 {
		copy(x.Local(), []T{100, 0, 1, 0, 0, 0})
	}
	pe.BarrierAll()
	for i := range each {
		v := T(each*pe.MyPE() + i + 1)
		shmem.AtomicMin(x.At(0), v, 0)
		shmem.AtomicFetchMax(x.At(1), v, 0)
		if i == 0 && pe.MyPE() < 6 {
			shmem.AtomicProd(x.At(2), 2, 0)
		}
		shmem.AtomicFetchLogicalXor(x.At(3), 7, 0)
		shmem.AtomicAdd(x.At(4), 1, 0)
		for old := shmem.AtomicFetch(x.At(5), 0); ; { // adds 1 by swaps
			seen := shmem.AtomicCompareSwapIf(x.At(5), shmem.CmpEQ, old, old+1, 0)
			if seen == old {
				break
			}
			old = seen
		}
	}
	pe.BarrierAll()
	if pe.MyPE() != 0 {
		return nil
	}
	total := T(each * n)
	return equal("words", x.Local(), []T{1, total, T(int(1) << min(n, 6)), T(each * n % 2), total, total})
}
