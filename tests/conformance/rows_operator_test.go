// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"math"
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

// A reduction is one of the verbs, and what it does with two elements.
type reduction[T any] struct {
	name string
	verb func(team *shmem.Team, dst, src shmem.Sym[T])
	op   func(a, b T) T
}

func numericReductions[T shmem.Numeric]() []reduction[T] {
	return []reduction[T]{
		{"sum", shmem.SumReduce[T], func(a, b T) T { return a + b }},
		{"prod", shmem.ProdReduce[T], func(a, b T) T { return a * b }},
	}
}

func orderedReductions[T shmem.Ordered]() []reduction[T] {
	return append(numericReductions[T](),
		reduction[T]{"max", shmem.MaxReduce[T], func(a, b T) T { return max(a, b) }},
		reduction[T]{"min", shmem.MinReduce[T], func(a, b T) T { return min(a, b) }},
	)
}

func integerReductions[T shmem.Integer]() []reduction[T] {
	return append(orderedReductions[T](),
		reduction[T]{"and", shmem.AndReduce[T], func(a, b T) T { return a & b }},
		reduction[T]{"or", shmem.OrReduce[T], func(a, b T) T { return a | b }},
		reduction[T]{"xor", shmem.XorReduce[T], func(a, b T) T { return a ^ b }},
	)
}

func operatorRows() []row {
	return []row{
		{
			sec: "9.10.9", name: "reductions: every operation on every type of its table",
			heap: 1 << 20, faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				return first(
					reduced(pe, integerReductions[int8]()), reduced(pe, integerReductions[uint8]()),
					reduced(pe, integerReductions[int16]()), reduced(pe, integerReductions[uint16]()),
					reduced(pe, integerReductions[int32]()), reduced(pe, integerReductions[uint32]()),
					reduced(pe, integerReductions[int64]()), reduced(pe, integerReductions[uint64]()),
					reduced(pe, integerReductions[int]()), reduced(pe, integerReductions[uint]()),
					reduced(pe, integerReductions[uintptr]()),
					reduced(pe, orderedReductions[float32]()), reduced(pe, orderedReductions[float64]()),
					reduced(pe, numericReductions[complex64]()), reduced(pe, numericReductions[complex128]()),
				)
			},
		},
		{
			sec: "9.10.9", name: "reductions: in place they are the same, for every operation and many lengths",
			heap: 4 << 20, faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				const most = 4096
				dst, src := alloc[uint64](pe, most), alloc[uint64](pe, most)
				for _, r := range integerReductions[uint64]() {
					for _, m := range []int{1, 2, 3, 7, 64, 1000, most} {
						fill := func() {
							for i := range m {
								src.Local()[i] = uint64(i+1)*0x9e3779b97f4a7c15 ^ uint64(pe.MyPE()+1)<<32
							}
						}
						fill()
						r.verb(pe.World(), dst.Slice(0, m), src.Slice(0, m))
						r.verb(pe.World(), src.Slice(0, m), src.Slice(0, m))
						want := make([]uint64, m)
						for i := range want {
							for q := range pe.NPEs() {
								v := uint64(i+1)*0x9e3779b97f4a7c15 ^ uint64(q+1)<<32
								if q == 0 {
									want[i] = v
								} else {
									want[i] = r.op(want[i], v)
								}
							}
						}
						if !slices.Equal(dst.Local()[:m], want) || !slices.Equal(src.Local()[:m], want) {
							return broken("%s of %d elements is wrong (in place: %t)", r.name, m, slices.Equal(dst.Local()[:m], want))
						}
					}
				}
				return nil
			},
		},
		{
			sec: "9.10.9", name: "max_reduce, min_reduce: NaN gives way to numbers, whoever has it, and +0 is above -0",
			faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				const m = 5
				n, zero := pe.NPEs(), 0.0
				x, y, all := alloc[float64](pe, m), alloc[float64](pe, m), alloc[float64](pe, m*n)
				for odd := range n {
					// NaN on one PE, on all but one, on all; zeroes of both signs; numbers.
					for i, v := range []float64{1, math.NaN(), math.NaN(), zero, float64(pe.MyPE())} {
						x.Local()[i] = v
					}
					if pe.MyPE() == odd {
						copy(x.Local(), []float64{math.NaN(), 2, math.NaN(), math.Copysign(0, -1), -5})
					}
					for _, verb := range []func(team *shmem.Team, dst, src shmem.Sym[float64]){shmem.MaxReduce[float64], shmem.MinReduce[float64]} {
						verb(pe.World(), y, x)
						shmem.FCollect(pe.World(), all, y)
						for i, v := range all.Local() {
							if own := y.Local()[i%m]; math.Float64bits(v) != math.Float64bits(own) {
								return broken("element %d is %v here and %v on PE %d", i%m, own, v, i/m)
							}
						}
						got := y.Local()
						if n > 1 && got[0] != 1 || n == 1 && got[0] == got[0] || got[1] != 2 || got[2] == got[2] || got[3] != 0 {
							return broken("PE %d is odd: got %v", odd, got)
						}
					}
					if n > 1 && !math.Signbit(y.Local()[3]) {
						return broken("the minimum of the zeroes is +0")
					}
					shmem.MaxReduce(pe.World(), y, x)
					if n > 1 && math.Signbit(y.Local()[3]) {
						return broken("the maximum of the zeroes is -0")
					}
				}
				return nil
			},
		},
		{
			sec: "9.10.9", name: "reductions of nothing match, between others",
			faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 4)
				for range 3 {
					for _, r := range integerReductions[int32]() {
						r.verb(pe.World(), x, x.Slice(2, 2))
					}
					x.Local()[0] = 1
					shmem.SumReduce(pe.World(), x.Slice(0, 1), x.Slice(0, 1))
					if err := equal("sum", x.Local()[0], int32(pe.NPEs())); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			sec: "9.10.9", name: "beyond: sum, max and min reduce-scatter give each PE its block",
			faults: []fault{lostGets},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				for _, m := range []int{0, 1, 5, 300} {
					src, dst := alloc[int64](pe, m*n), alloc[int64](pe, m+1)
					copy(src.Local(), count(int64(pe.MyPE()), m*n))
					at := count(int64(m*pe.MyPE()), m) // PE 0's elements of the own block
					want := func(f func(v int64) int64) []int64 {
						w := make([]int64, m+1)
						for i, v := range at {
							w[i] = f(v)
						}
						return w
					}
					shmem.SumReduceScatter(pe.World(), dst, src)
					if err := equal("sums", dst.Local(), want(func(v int64) int64 { return int64(n)*v + int64(n*(n-1)/2) })); err != nil {
						return err
					}
					shmem.MaxReduceScatter(pe.World(), dst, src)
					if err := equal("greatest", dst.Local(), want(func(v int64) int64 { return v + int64(n-1) })); err != nil {
						return err
					}
					shmem.MinReduceScatter(pe.World(), dst, src)
					if err := equal("least", dst.Local(), want(func(v int64) int64 { return v })); err != nil {
						return err
					}
					shmem.Free(src)
					shmem.Free(dst)
				}
				return nil
			},
		},
	}
}

// reduced reduces a few elements by each verb.
func reduced[T shmem.Numeric](pe *shmem.PE, rs []reduction[T]) error {
	const m = 9
	dst, src := alloc[T](pe, m+1), alloc[T](pe, m)
	for _, r := range rs {
		of := func(q int) []T {
			if r.name == "prod" {
				q %= 2 // products of larger numbers are not exact in float32
			}
			return contribution[T](q, m)
		}
		want := of(0)
		for q := 1; q < pe.NPEs(); q++ {
			for i, v := range of(q) {
				want[i] = r.op(want[i], v)
			}
		}
		copy(src.Local(), of(pe.MyPE()))
		r.verb(pe.World(), dst, src)
		err := first(
			equal(r.name, dst.Local(), append(want, 0)),
			equal(r.name+": src", src.Local(), of(pe.MyPE())),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func scanRows() []row {
	return []row{
		{
			sec: "9.10.10", name: "sum_inscan, sum_exscan: sums of the PEs up to this one, of every numeric type",
			heap: 1 << 20, faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				return first(
					scanned[int8](pe), scanned[uint8](pe), scanned[int16](pe), scanned[uint16](pe), scanned[int32](pe), scanned[uint32](pe),
					scanned[int64](pe), scanned[uint64](pe), scanned[int](pe), scanned[uint](pe), scanned[uintptr](pe),
					scanned[float32](pe), scanned[float64](pe), scanned[complex64](pe), scanned[complex128](pe),
				)
			},
		},
		{
			sec: "9.10.10", name: "sum_inscan, sum_exscan: in place they are the same, for many lengths",
			heap: 2 << 20, faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				for _, m := range append(lengths, 1<<14) {
					dst, src := alloc[int64](pe, m+1), alloc[int64](pe, m)
					for _, scan := range []struct {
						verb func(team *shmem.Team, dst, src shmem.Sym[int64])
						pes  int
					}{{shmem.SumInclusiveScan[int64], pe.MyPE() + 1}, {shmem.SumExclusiveScan[int64], pe.MyPE()}} {
						copy(src.Local(), count(int64(pe.MyPE()), m))
						want := make([]int64, m)
						for i := range want {
							want[i] = int64(scan.pes*i + scan.pes*(scan.pes-1)/2)
						}
						scan.verb(pe.World(), dst, src)
						scan.verb(pe.World(), src, src)
						if !slices.Equal(dst.Local(), append(want, 0)) || !slices.Equal(src.Local(), want) {
							return broken("%d elements of %d PEs: wrong (in place: %t)", m, scan.pes, slices.Equal(dst.Local()[:m], want))
						}
					}
					shmem.Free(dst)
					shmem.Free(src)
				}
				return nil
			},
		},
	}
}

// scanned scans a few elements into a larger object.
func scanned[T shmem.Numeric](pe *shmem.PE) error {
	const m = 9
	dst, src := alloc[T](pe, m+1), alloc[T](pe, m)
	before := make([]T, m+1)
	for q := range pe.MyPE() {
		for i, v := range contribution[T](q, m) {
			before[i] += v
		}
	}
	upTo := slices.Clone(before)
	for i, v := range contribution[T](pe.MyPE(), m) {
		upTo[i] += v
	}
	copy(src.Local(), contribution[T](pe.MyPE(), m))
	shmem.SumInclusiveScan(pe.World(), dst, src)
	if err := equal("inclusive", dst.Local(), upTo); err != nil {
		return err
	}
	shmem.SumExclusiveScan(pe.World(), dst, src)
	return first(
		equal("exclusive", dst.Local(), before),
		equal("src", src.Local(), contribution[T](pe.MyPE(), m)),
	)
}
