// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"github.com/goshmem/goshmem/shmem"
)

func atomicRows() []row {
	return []row{
		{
			sec: "9.7.1", name: "fetch, set and swap: every scalar type",
			faults: []fault{lostAtomics, lostFetches},
			run: func(pe *shmem.PE) error {
				return first(
					exchange(pe, int8(-1), 2), exchange(pe, uint8(255), 3), exchange(pe, int16(-300), 4), exchange(pe, uint16(65535), 5),
					exchange(pe, int32(-1<<31), 6), exchange(pe, uint32(1<<32-1), 7), exchange(pe, int64(-1<<63), 8), exchange(pe, uint64(1<<64-1), 9),
					exchange(pe, -1, 2), exchange(pe, uint(3), 4), exchange(pe, uintptr(5), 6),
					exchange(pe, float32(-1.5), 2.5), exchange(pe, 0.1, -1e300), exchange(pe, complex64(1-2i), 3+4i),
				)
			},
		},
		{
			sec: "9.7.1", name: "compare_swap, add, inc, and, or, xor: every integer type, the fetching ones give the old value",
			faults: []fault{lostAtomics, lostFetches},
			run: func(pe *shmem.PE) error {
				return first(
					arithmetic[int8](pe), arithmetic[uint8](pe), arithmetic[int16](pe), arithmetic[uint16](pe),
					arithmetic[int32](pe), arithmetic[uint32](pe), arithmetic[int64](pe), arithmetic[uint64](pe),
					arithmetic[int](pe), arithmetic[uint](pe), arithmetic[uintptr](pe),
				)
			},
		},
		{
			sec: "9.7.1", name: "fetch_add and inc: wrap around",
			faults: []fault{lostAtomics, lostFetches},
			run: func(pe *shmem.PE) error {
				return first(wraps(pe, int8(127), -128), wraps(pe, uint8(255), 0), wraps(pe, int16(32767), -32768), wraps(pe, uint16(65535), 0),
					wraps(pe, int32(1<<31-1), -1<<31), wraps(pe, uint32(1<<32-1), 0), wraps(pe, int64(1<<63-1), -1<<63), wraps(pe, uint64(1<<64-1), 0))
			},
		},
		{
			sec: "9.7.1", name: "atomics on small words leave their neighbours alone",
			faults: []fault{lostAtomics},
			run:    func(pe *shmem.PE) error { return first(neighbours[uint8](pe), neighbours[int16](pe)) },
		},
		{
			sec: "9.7.1", name: "set and add: complete at quiet",
			faults: []fault{lostAtomics, quietIgnored},
			run: func(pe *shmem.PE) error {
				x := alloc[int64](pe, 2)
				for i := range 5 {
					shmem.AtomicSet(x.At(0), int64(i), right(pe))
					shmem.AtomicAdd(x.At(1), 2, right(pe))
					pe.Quiet()
					if err := equal("after quiet", []int64{shmem.AtomicFetch(x.At(0), right(pe)), shmem.AtomicFetch(x.At(1), right(pe))}, []int64{int64(i), int64(2*i + 2)}); err != nil {
						return err
					}
				}
				return nil
			},
		},
	}
}

// exchange fetches, sets and swaps a word of the right neighbour.
func exchange[T shmem.Scalar](pe *shmem.PE, v, w T) error {
	x := alloc[T](pe, 3)
	word, target := x.At(1), right(pe)
	got := []T{shmem.AtomicFetch(word, target)}
	shmem.AtomicSet(word, v, target)
	pe.Quiet()
	got = append(got, shmem.AtomicFetch(word, target), shmem.AtomicSwap(word, w, target), shmem.AtomicFetch(word, target))
	pe.BarrierAll()
	return first(
		equal("fetched", got, []T{0, v, v, w}),
		equal("object", x.Local(), []T{0, w, 0}),
	)
}

// arithmetic calls everything that integers have on a word of the right neighbour.
func arithmetic[T shmem.Bitwise](pe *shmem.PE) error {
	x := alloc[T](pe, 1)
	target := right(pe)
	do := func(f func(shmem.Sym[T], T, int), v T) { f(x, v, target); pe.Quiet() }
	var got []T
	note := func(v T) { got = append(got, v) }
	note(shmem.AtomicFetchAdd(x, 100, target))               // 0 → 100
	note(shmem.AtomicFetchInc(x, target))                    // 100 → 101
	note(shmem.AtomicCompareSwap(x, 7, 8, target))           // 101, not 7: stays
	note(shmem.AtomicCompareSwap(x, 101, 0b1101100, target)) // → 108
	note(shmem.AtomicFetchAnd(x, 0b0111100, target))         // 108 → 44
	note(shmem.AtomicFetchOr(x, 0b1000001, target))          // 44 → 109
	note(shmem.AtomicFetchXor(x, 0b0100101, target))         // 109 → 72
	do(shmem.AtomicAdd[T], 5)                                // → 77
	do(func(x shmem.Sym[T], _ T, target int) { shmem.AtomicInc(x, target) }, 0)
	note(shmem.AtomicFetch(x, target)) // 78
	do(shmem.AtomicAnd[T], 0b1001010)  // → 74
	do(shmem.AtomicOr[T], 0b0000100)   // 78
	do(shmem.AtomicXor[T], 0b0000011)  // → 77
	note(shmem.AtomicFetch(x, target))
	pe.BarrierAll()
	return first(
		equal("old values", got, []T{0, 100, 101, 101, 108, 44, 109, 78, 77}),
		equal("own word", x.Local()[0], T(77)),
	)
}

func wraps[T shmem.Integer](pe *shmem.PE, top, bottom T) error {
	x := alloc[T](pe, 1)
	shmem.AtomicSet(x, top, right(pe))
	pe.Quiet()
	old := shmem.AtomicFetchAdd(x, 1, right(pe))
	between := shmem.AtomicFetchAdd(x, top-bottom, right(pe)) // back to the top: top-bottom is -1
	shmem.AtomicInc(x, right(pe))
	pe.BarrierAll()
	return equal("values", []T{old, between, x.Local()[0]}, []T{top, bottom, bottom})
}

// neighbours changes each element of an object on its own.
func neighbours[T shmem.Integer](pe *shmem.PE) error {
	const n = 9
	x := alloc[T](pe, n)
	for i := range n {
		shmem.AtomicAdd(x.At(i), T(i+1), right(pe))
		shmem.AtomicOr(x.At(i), 64, right(pe))
	}
	pe.BarrierAll()
	return equal("object", x.Local(), count(T(65), n))
}

func contentionRows() []row {
	return []row{
		{
			sec: "9.7.1", name: "fetch_inc: all PEs on one word draw different numbers, without gaps",
			faults: []fault{lostFetches, everyOtherAtomicLost},
			run: func(pe *shmem.PE) error {
				const each = 30
				ticket, drawn := alloc[int64](pe, 1), alloc[int32](pe, each*pe.NPEs())
				for range each {
					shmem.AtomicInc(drawn.At(int(shmem.AtomicFetchInc(ticket, 0))), 0)
				}
				pe.BarrierAll()
				if pe.MyPE() != 0 {
					return nil
				}
				for i, n := range drawn.Local() {
					if n != 1 {
						return broken("number %d was drawn %d times", i, n)
					}
				}
				return nil
			},
		},
		{
			sec: "9.7.1", name: "add: all PEs on one word of each width, the sum is exact",
			faults: []fault{everyOtherAtomicLost, lostFetches},
			run: func(pe *shmem.PE) error {
				a, b, c, d := alloc[uint8](pe, 4), alloc[uint16](pe, 2), alloc[uint32](pe, 1), alloc[uint64](pe, 1)
				const each = 20
				for range each {
					shmem.AtomicAdd(a.At(1), 1, 0)
					shmem.AtomicFetchAdd(a.At(2), 1, 0)
					shmem.AtomicAdd(b.At(1), 1, 0)
					shmem.AtomicAdd(c, 1, 0)
					shmem.AtomicFetchAdd(d, 1, 0)
				}
				pe.BarrierAll()
				n := each * pe.NPEs()
				got := []int{int(shmem.GetValue(a.At(1), 0)), int(shmem.GetValue(a.At(2), 0)), int(shmem.GetValue(b.At(1), 0)), int(shmem.GetValue(c, 0)), int(shmem.GetValue(d, 0))}
				return equal("sums", got, []int{n, n, n, n, n})
			},
		},
		{
			sec: "9.7.1", name: "compare_swap: one PE at a time gets the word",
			faults: []fault{lostFetches},
			run: func(pe *shmem.PE) error {
				lock, sum := alloc[int32](pe, 1), alloc[int64](pe, 1)
				const each = 5
				for range each {
					for shmem.AtomicCompareSwap(lock, 0, int32(pe.MyPE()+1), 0) != 0 {
						continue
					}
					// Not atomic, but alone.
					shmem.PutValue(sum, shmem.GetValue(sum, 0)+1, 0)
					pe.Quiet()
					if holder := shmem.AtomicSwap(lock, 0, 0); holder != int32(pe.MyPE()+1) {
						return broken("PE %d has the word too", holder-1)
					}
				}
				pe.BarrierAll()
				return equal("sum", shmem.GetValue(sum, 0), int64(each*pe.NPEs()))
			},
		},
		{
			sec: "9.7.1", name: "or and xor: all PEs on one word, every bit counts",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[uint32](pe, 2)
				for i := range 4 {
					bit := uint32(1) << (4*pe.MyPE() + i)
					shmem.AtomicOr(x.At(0), bit, 0)
					for range 3 {
						shmem.AtomicXor(x.At(1), bit, 0)
					}
				}
				pe.BarrierAll()
				got := []uint32{shmem.GetValue(x.At(0), 0), shmem.GetValue(x.At(1), 0)}
				want := uint32(1<<(4*pe.NPEs()) - 1)
				return equal("words", got, []uint32{want, want})
			},
		},
		{
			sec: "9.7.1", name: "fetch: a PE that polls its own word sees what others add",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 1)
				for range 3 {
					shmem.AtomicInc(x, 0)
				}
				// PE 0 makes no call but this one.
				for pe.MyPE() == 0 && shmem.AtomicFetch(x, 0) < int32(3*pe.NPEs()) {
					continue
				}
				return nil
			},
		},
	}
}

func atomicNBIRows() []row {
	return []row{
		{
			sec: "9.7.2", name: "fetch_nbi and its kin: the old value is there after quiet, for every integer type",
			faults: []fault{lostFetches, quietIgnored},
			run: func(pe *shmem.PE) error {
				return first(
					fetchNBI[int8](pe), fetchNBI[uint8](pe), fetchNBI[int16](pe), fetchNBI[uint16](pe),
					fetchNBI[int32](pe), fetchNBI[uint32](pe), fetchNBI[int64](pe), fetchNBI[uint64](pe),
				)
			},
		},
		{
			sec: "9.7.2", name: "fetch_nbi and swap_nbi: floating-point and complex words",
			faults: []fault{lostFetches, quietIgnored},
			run: func(pe *shmem.PE) error {
				return first(swapNBI(pe, float32(1.5)), swapNBI(pe, -2.5), swapNBI(pe, complex64(3-4i)))
			},
		},
		{
			sec: "9.7.2", name: "fetch_add_nbi: many at once on one word, no two get the same value",
			faults: []fault{lostFetches, quietIgnored},
			run: func(pe *shmem.PE) error {
				const each = 25
				x := alloc[uint16](pe, 1)
				old := make([]uint16, each)
				for i := range old {
					shmem.AtomicFetchIncNBI(&old[i], x, 0)
				}
				pe.Quiet()
				seen := map[uint16]bool{}
				for _, v := range old {
					if seen[v] || int(v) >= each*pe.NPEs() {
						return broken("drew %v", old)
					}
					seen[v] = true
				}
				pe.BarrierAll()
				return equal("sum", shmem.GetValue(x, 0), uint16(each*pe.NPEs()))
			},
		},
	}
}

// fetchNBI fetches from a word each and checks old values and results.
func fetchNBI[T shmem.Bitwise](pe *shmem.PE) error {
	const n = 8
	x, target := alloc[T](pe, n), right(pe)
	for i := range n {
		shmem.AtomicSet(x.At(i), T(10+i), target)
	}
	pe.Quiet()
	old := make([]T, n)
	shmem.AtomicFetchNBI(&old[0], x.At(0), target)
	shmem.AtomicSwapNBI(&old[1], x.At(1), 3, target)
	shmem.AtomicCompareSwapNBI(&old[2], x.At(2), 12, 4, target)
	shmem.AtomicFetchAddNBI(&old[3], x.At(3), 5, target)
	shmem.AtomicFetchIncNBI(&old[4], x.At(4), target)
	shmem.AtomicFetchAndNBI(&old[5], x.At(5), 9, target)
	shmem.AtomicFetchOrNBI(&old[6], x.At(6), 33, target)
	shmem.AtomicFetchXorNBI(&old[7], x.At(7), 1, target)
	pe.Quiet()
	if err := equal("old values", old, count(T(10), n)); err != nil {
		return err
	}
	pe.SyncAll()
	return equal("object", x.Local(), []T{10, 3, 4, 18, 15, 9, 49, 16})
}

func swapNBI[T shmem.Scalar](pe *shmem.PE, v T) error {
	x, old := alloc[T](pe, 1), new([2]T)
	shmem.AtomicSwapNBI(&old[0], x, v, right(pe))
	pe.Quiet()
	shmem.AtomicFetchNBI(&old[1], x, right(pe))
	pe.Quiet()
	return equal("old values", *old, [2]T{0, v})
}
