// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

// vectorRows are about transfers of several ranges, which the specification does
// not have: each is as many puts or gets.
func vectorRows() []row {
	return []row{
		{
			sec: "9.6.1", name: "putv (beyond the specification): ranges in any order arrive after a barrier, and nothing beside them changes",
			faults: []fault{lostPuts, quietIgnored},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 12)
				for i := range x.Local() {
					x.Local()[i] = -1
				}
				pe.SyncAll()
				shmem.PutV(x.Slice(1, 12), []shmem.Part[int32]{
					{At: 8, Elems: []int32{8, 9, 10}}, {At: 3}, {At: 0, Elems: []int32{1}}, {At: 4, Elems: []int32{4, 5}}, {At: 11},
				}, left(pe))
				pe.BarrierAll()
				return equal("object", x.Local(), []int32{-1, 1, -1, -1, -1, 4, 5, -1, -1, 8, 9, 10})
			},
		},
		{
			sec: "9.6.1", name: "putv (beyond the specification): the sources may be reused at once",
			heap: 1 << 20, faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				const n, size = 100, 500
				x := alloc[int64](pe, n*size)
				src := count(int64(0), n*size)
				parts := make([]shmem.Part[int64], n)
				for i := range parts {
					parts[i] = shmem.Part[int64]{At: i * size, Elems: src[i*size : (i+1)*size]}
				}
				shmem.PutV(x, parts, right(pe))
				clear(src)
				clear(parts)
				pe.BarrierAll()
				return equal("object", x.Local(), count(int64(0), n*size))
			},
		},
		{
			sec: "9.6.1", name: "getv (beyond the specification): every range is there on return, and nothing beside it changes",
			faults: []fault{lostGets},
			run: func(pe *shmem.PE) error {
				x := alloc[int16](pe, 300)
				copy(x.Local(), count(int16(1000*pe.MyPE()), 300))
				pe.BarrierAll()
				return all(pe.NPEs(), func(target int) error {
					dst := slices.Repeat([]int16{-1}, 201)
					want := slices.Clone(dst)
					var parts []shmem.Part[int16]
					for i := range 100 { // more than one message takes, backwards, with gaps on both sides
						at := 3*(99-i) + 1
						parts = append(parts, shmem.Part[int16]{At: at, Elems: dst[2*i+1 : 2*i+2]})
						want[2*i+1] = int16(1000*target + at)
					}
					shmem.GetV(parts, x, target)
					return equal("got from that PE", dst, want)
				})
			},
		},
		{
			sec: "9.6.1", name: "putv and getv (beyond the specification): every type, structures too",
			faults: []fault{lostPuts, lostGets},
			run: func(pe *shmem.PE) error {
				return first(
					putGetV(pe, int8(-1)), putGetV(pe, uint16(60000)), putGetV(pe, float32(1.5)), putGetV(pe, -2.5), putGetV(pe, 3-4i),
					putGetV(pe, true), putGetV(pe, [3]byte{1, 2, 3}), putGetV(pe, pair{7, [3]int8{1, 2, 3}}), putGetV(pe, struct{}{}),
				)
			},
		},
		{
			sec: "9.6.1", name: "putv and getv (beyond the specification): of no parts do nothing",
			run: func(pe *shmem.PE) error {
				x := alloc[int8](pe, 2)
				shmem.PutV(x, nil, right(pe))
				shmem.PutV(x, make([]shmem.Part[int8], 3), right(pe))
				shmem.PutV(x.Slice(1, 1), []shmem.Part[int8]{{}}, right(pe))
				shmem.GetV(nil, x, right(pe))
				shmem.GetV([]shmem.Part[int8]{{At: 2}}, x, right(pe))
				pe.BarrierAll()
				return equal("object", x.Local(), []int8{0, 0})
			},
		},
		{
			sec: "9.6.1", name: "putv and getv (beyond the specification): a part that does not fit is refused, and none is copied",
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 4)
				dst := []int{-1, -1}
				bad := func(at, n int) []shmem.Part[int] {
					return []shmem.Part[int]{{At: 0, Elems: dst[:1]}, {At: at, Elems: dst[:n]}}
				}
				err := first(
					refused("a part that begins behind the end", func() { shmem.PutV(x, bad(5, 0), right(pe)) }),
					refused("a part that ends behind the end", func() { shmem.GetV(bad(3, 2), x, right(pe)) }),
					refused("a part that begins before the start", func() { shmem.PutV(x, bad(-1, 1), right(pe)) }),
				)
				pe.BarrierAll()
				return first(err, equal("object", x.Local(), []int{0, 0, 0, 0}), equal("destination", dst, []int{-1, -1}))
			},
		},
	}
}

// putGetV puts two elements to places apart and gets them and what is between.
func putGetV[T comparable](pe *shmem.PE, v T) error {
	var zero T
	x := alloc[T](pe, 5)
	shmem.PutV(x, []shmem.Part[T]{{At: 3, Elems: []T{v}}, {At: 1, Elems: []T{v}}}, right(pe))
	pe.BarrierAll()
	dst := make([]T, 5)
	shmem.GetV([]shmem.Part[T]{{At: 2, Elems: dst[2:]}, {At: 0, Elems: dst[:2]}}, x, right(pe))
	want := []T{zero, v, zero, v, zero}
	return first(equal("object", x.Local(), want), equal("got", dst, want))
}
