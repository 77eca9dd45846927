// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"math"
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

func reduceRows() []row {
	return []row{
		{
			sec: "9.10.9", name: "sum_reduce: every numeric type",
			faults: []fault{lostGets, lostPuts, quietIgnored},
			run: func(pe *shmem.PE) error {
				return first(
					sum[int8](pe), sum[uint8](pe), sum[int16](pe), sum[uint16](pe), sum[int32](pe), sum[uint32](pe),
					sum[int64](pe), sum[uint64](pe), sum[int](pe), sum[uint](pe), sum[uintptr](pe),
					sum[float32](pe), sum[float64](pe), sum[complex64](pe), sum[complex128](pe),
				)
			},
		},
		{
			sec: "9.10.9", name: "sum_reduce: in place it is the same, for many lengths",
			heap: 2 << 20, faults: []fault{lostGets, lostPuts},
			run: func(pe *shmem.PE) error {
				for _, m := range append(lengths, 1<<16) {
					dst, src := alloc[int64](pe, m), alloc[int64](pe, m)
					copy(src.Local(), count(int64(m*pe.MyPE()), m))
					shmem.SumReduce(pe.World(), dst, src)
					shmem.SumReduce(pe.World(), src, src)
					n := int64(pe.NPEs())
					want := make([]int64, m)
					for i := range want {
						want[i] = n*int64(i) + int64(m)*n*(n-1)/2
					}
					if !slices.Equal(dst.Local(), want) || !slices.Equal(src.Local(), want) {
						return broken("%d elements: sums are wrong (in place: %t)", m, slices.Equal(dst.Local(), want))
					}
					shmem.Free(dst)
					shmem.Free(src)
				}
				return nil
			},
		},
		{
			sec: "9.10.9", name: "sum_reduce: integers wrap around",
			faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				x := alloc[int8](pe, 2)
				copy(x.Local(), []int8{127, int8(-128 + pe.MyPE())})
				shmem.SumReduce(pe.World(), x, x)
				n := pe.NPEs()
				return equal("sums", x.Local(), []int8{int8(127 * n), int8(-128*n + n*(n-1)/2)})
			},
		},
		{
			sec: "9.10.9", name: "sum_reduce: all PEs get the same bits",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				const m = 100
				x, all := alloc[float64](pe, m), alloc[float64](pe, m*pe.NPEs())
				for i := range m { // sums that depend on their order
					x.Local()[i] = math.Pow(10, float64((i*7+pe.MyPE()*5)%40-20)) / 3
				}
				shmem.SumReduce(pe.World(), x, x)
				shmem.FCollect(pe.World(), all, x)
				for i, v := range all.Local() {
					if own := x.Local()[i%m]; v != own || v == 0 {
						return broken("element %d is %v here and %v on PE %d", i%m, own, v, i/m)
					}
				}
				return nil
			},
		},
		{
			sec: "9.10.9", name: "sum_reduce: a NaN stays one",
			faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				x := alloc[float32](pe, 3)
				x.Local()[1] = 1
				if pe.MyPE() == pe.NPEs()-1 {
					x.Local()[0], x.Local()[2] = float32(math.NaN()), float32(math.Inf(1))
				}
				shmem.SumReduce(pe.World(), x, x)
				got := x.Local()
				if got[0] == got[0] || got[1] != float32(pe.NPEs()) || !math.IsInf(float64(got[2]), 1) {
					return broken("got %v", got)
				}
				return nil
			},
		},
		{
			sec: "9.10.9", name: "sum_reduce: many in a row on the same objects",
			faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				x := alloc[uint32](pe, 3)
				copy(x.Local(), []uint32{1, 2, 3})
				factor := uint32(1)
				for range 10 {
					shmem.SumReduce(pe.World(), x, x)
					factor *= uint32(pe.NPEs())
				}
				return equal("sums", x.Local(), []uint32{factor, 2 * factor, 3 * factor})
			},
		},
	}
}

// sum reduces a few elements into a larger object.
func sum[T shmem.Numeric](pe *shmem.PE) error {
	const m = 9
	dst, src := alloc[T](pe, m+1), alloc[T](pe, m)
	want := make([]T, m+1)
	for q := range pe.NPEs() {
		for i, v := range contribution[T](q, m) {
			want[i] += v
		}
	}
	copy(src.Local(), contribution[T](pe.MyPE(), m))
	shmem.SumReduce(pe.World(), dst, src)
	return first(
		equal("dst", dst.Local(), want),
		equal("src", src.Local(), contribution[T](pe.MyPE(), m)),
	)
}

// contribution returns small numbers, whose sums are exact in every type.
func contribution[T shmem.Numeric](q, m int) []T {
	first := T(0)
	for range q {
		first += 2
	}
	return count(first, m)
}
