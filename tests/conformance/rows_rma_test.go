// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"math"
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

// sizes are lengths in bytes that meet edges: of words, lines, pages, and of
// what a fabric sends in one piece.
var sizes = []int{1, 2, 3, 7, 8, 9, 63, 64, 65, 1023, 4096, 4097, 65536, 70001}

func putRows() []row {
	return []row{
		{
			sec: "9.6.1", name: "put: the elements arrive after a barrier, and nothing beside them changes",
			faults: []fault{lostPuts, quietIgnored},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 7)
				for i := range x.Local() {
					x.Local()[i] = -1
				}
				pe.SyncAll()
				shmem.Put(x.Slice(2, 6), []int32{1, 2, 3}, left(pe))
				pe.BarrierAll()
				return equal("object", x.Local(), []int32{-1, -1, 1, 2, 3, -1, -1})
			},
		},
		{
			sec: "9.6.1", name: "put: the source may be reused at once",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int64](pe, 50)
				src := make([]int64, 5)
				for i := range 10 {
					copy(src, count(int64(5*i), 5))
					shmem.Put(x.Slice(5*i, 5*i+5), src, right(pe))
				}
				clear(src)
				pe.BarrierAll()
				return equal("data", x.Local(), count(int64(0), 50))
			},
		},
		{
			sec: "9.6.1", name: "put: of no elements does nothing, from nil too",
			run: func(pe *shmem.PE) error {
				x := alloc[int16](pe, 2)
				shmem.Put(x, nil, right(pe))
				shmem.Put(x, []int16{}, right(pe))
				shmem.Put(x.Slice(1, 1), nil, right(pe))
				shmem.Get(nil, x, right(pe))
				shmem.Get([]int16{}, x.Slice(2, 2), right(pe))
				pe.BarrierAll()
				return equal("object", x.Local(), []int16{0, 0})
			},
		},
		{
			sec: "9.6.1", name: "put and get: many sizes, at any offset",
			heap: 1 << 20, faults: []fault{lostPuts, lostGets},
			run: func(pe *shmem.PE) error {
				x := alloc[byte](pe, slices.Max(sizes)+8)
				for i, size := range sizes {
					at := i % 8
					src, dst := pattern(pe.MyPE()+i, size), make([]byte, size)
					shmem.Put(x.Slice(at, at+size), src, right(pe))
					pe.BarrierAll()
					if !slices.Equal(x.Local()[at:at+size], pattern(left(pe)+i, size)) {
						return broken("put %d bytes: others arrived", size)
					}
					shmem.Get(dst, x.Slice(at, at+size), right(pe))
					if !slices.Equal(dst, src) {
						return broken("got %d bytes: not those that were put", size)
					}
					pe.BarrierAll()
				}
				return nil
			},
		},
		{
			sec: "9.6.1", name: "put and get: every type, structures too",
			faults: []fault{lostPuts, lostGets},
			run: func(pe *shmem.PE) error {
				return first(
					putGet(pe, int8(-1)), putGet(pe, uint8(200)), putGet(pe, int16(-300)), putGet(pe, uint16(60000)),
					putGet(pe, int32(-70000)), putGet(pe, uint32(1<<31)), putGet(pe, int64(-1<<40)), putGet(pe, uint64(1<<63)),
					putGet(pe, -5), putGet(pe, uint(5)), putGet(pe, uintptr(6)), putGet(pe, true),
					putGet(pe, float32(1.5)), putGet(pe, -2.5), putGet(pe, complex64(1+2i)), putGet(pe, 3-4i),
					putGet(pe, [3]byte{1, 2, 3}), putGet(pe, [16]byte{15: 9}), putGet(pe, pair{7, [3]int8{1, 2, 3}}), putGet(pe, struct{}{}),
				)
			},
		},
		{
			sec: "9.6.1", name: "put: a signed zero and a NaN keep their bits",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[float64](pe, 2)
				bits := []uint64{1 << 63, 0x7ff8dead0000beef}
				shmem.Put(x, []float64{math.Float64frombits(bits[0]), math.Float64frombits(bits[1])}, right(pe))
				pe.BarrierAll()
				return equal("bits", []uint64{math.Float64bits(x.Local()[0]), math.Float64bits(x.Local()[1])}, bits)
			},
		},
		{
			sec: "9.6.1", name: "p and g: one element of any size",
			faults: []fault{lostWords, lostPuts, lostGets},
			run: func(pe *shmem.PE) error {
				return first(
					value(pe, int8(-1), 2), value(pe, uint16(3), 4), value(pe, int32(-5), 6), value(pe, uint64(1<<63), 8),
					value(pe, float32(0.5), 1), value(pe, 0.25, 1), value(pe, 1+2i, 3), value(pe, true, false),
					value(pe, [3]byte{1, 2, 3}, [3]byte{4}), value(pe, pair{1, [3]int8{2}}, pair{3, [3]int8{4}}),
				)
			},
		},
		{
			sec: "9.6.1", name: "p: writes one element, not its neighbours",
			faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				x := alloc[uint8](pe, 8)
				shmem.Put(x, slices.Repeat([]uint8{0xee}, 8), right(pe))
				pe.BarrierAll()
				shmem.PutValue(x.At(3), 1, right(pe))
				pe.BarrierAll()
				return equal("bytes", x.Local(), []uint8{0xee, 0xee, 0xee, 1, 0xee, 0xee, 0xee, 0xee})
			},
		},
		{
			sec: "9.6.1", name: "get: what the other PE stored before a barrier",
			faults: []fault{lostGets},
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 100)
				copy(x.Local(), count(1000*pe.MyPE(), 100))
				pe.BarrierAll()
				return all(pe.NPEs(), func(i int) error {
					dst := slices.Repeat([]int{-1}, 102)
					shmem.Get(dst[1:101], x, i)
					return equal("got", dst, slices.Concat([]int{-1}, count(1000*i, 100), []int{-1}))
				})
			},
		},
		{
			sec: "9.6.1", name: "put and get: to the own PE and between own objects",
			faults: []fault{lostPuts, lostGets},
			run: func(pe *shmem.PE) error {
				x, y := alloc[int64](pe, 3), alloc[int64](pe, 3)
				copy(x.Local(), []int64{1, 2, 3})
				shmem.Put(y, x.Local(), pe.MyPE())
				pe.Quiet()
				got := make([]int64, 3)
				shmem.Get(got, y, pe.MyPE())
				return equal("got", got, []int64{1, 2, 3})
			},
		},
		{
			sec: "9.6.1", name: "put: every PE to every PE at once",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, pe.NPEs()*10)
				for i := range pe.NPEs() {
					shmem.Put(x.Slice(10*pe.MyPE(), 10*pe.MyPE()+10), count(int32(100*pe.MyPE()+i), 10), i)
				}
				pe.BarrierAll()
				return all(pe.NPEs(), func(i int) error {
					return equal("block of that PE", x.Local()[10*i:10*i+10], count(int32(100*i+pe.MyPE()), 10))
				})
			},
		},
	}
}

// pattern returns n bytes that depend on seed.
func pattern(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed*31)
	}
	return b
}

// putGet puts two elements between others and gets all of them back.
func putGet[T comparable](pe *shmem.PE, v T) error {
	var zero T
	x := alloc[T](pe, 4)
	shmem.Put(x.Slice(1, 3), []T{v, v}, right(pe))
	pe.BarrierAll()
	want := []T{zero, v, v, zero}
	dst := make([]T, 4)
	shmem.Get(dst, x, right(pe))
	return first(equal("object", x.Local(), want), equal("got", dst, want))
}

// value puts and gets one element between others.
func value[T any](pe *shmem.PE, v, w T) error {
	x := alloc[T](pe, 3)
	x.Local()[0], x.Local()[2] = w, w
	pe.SyncAll()
	shmem.PutValue(x.At(1), v, right(pe))
	pe.BarrierAll()
	return first(
		equal("object", x.Local(), []T{w, v, w}),
		equal("got", []T{shmem.GetValue(x.At(0), right(pe)), shmem.GetValue(x.At(1), right(pe))}, []T{w, v}),
	)
}

func stridedRows() []row {
	return []row{
		{
			sec: "9.6.1", name: "iput: strides on both sides, and what lies between stays",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 10)
				shmem.PutStrided(x.Slice(1, 10), []int32{1, 0, 2, 0, 3}, 4, 2, 3, right(pe))
				pe.BarrierAll()
				return equal("object", x.Local(), []int32{0, 1, 0, 0, 0, 2, 0, 0, 0, 3})
			},
		},
		{
			sec: "9.6.1", name: "iget: strides on both sides, and what lies between stays",
			faults: []fault{lostGets},
			run: func(pe *shmem.PE) error {
				x := alloc[int16](pe, 9)
				copy(x.Local(), count(int16(10*pe.MyPE()), 9))
				pe.BarrierAll()
				dst := []int16{-1, -1, -1, -1, -1}
				shmem.GetStrided(dst, x, 2, 4, 3, right(pe))
				base := int16(10 * right(pe))
				return equal("got", dst, []int16{base, -1, base + 4, -1, base + 8})
			},
		},
		{
			sec: "9.6.1", name: "iput and iget: stride 1 is contiguous, no elements are none",
			faults: []fault{lostPuts, lostGets},
			run: func(pe *shmem.PE) error {
				x := alloc[float64](pe, 5)
				shmem.PutStrided(x, count(1.0, 5), 1, 1, 5, right(pe))
				shmem.PutStrided(x, nil, 1, 1, 0, right(pe))
				shmem.PutStrided(x.Slice(0, 0), nil, 3, 3, 0, right(pe))
				shmem.GetStrided(nil, x, 1, 1, 0, right(pe))
				pe.BarrierAll()
				dst := make([]float64, 5)
				shmem.GetStrided(dst, x, 1, 1, 5, right(pe))
				return first(equal("object", x.Local(), count(1.0, 5)), equal("got", dst, count(1.0, 5)))
			},
		},
		{
			sec: "9.6.1", name: "iput and iget: as many elements as asked for, and not one more",
			faults: []fault{lostPuts, lostGets},
			run: func(pe *shmem.PE) error {
				for n := range 10 {
					x := alloc[uint16](pe, 24)
					shmem.PutStrided(x, count(uint16(1), 24), 2, 1, n, right(pe))
					pe.BarrierAll()
					dst, want, got := make([]uint16, 36), make([]uint16, 24), make([]uint16, 36)
					shmem.GetStrided(dst, x, 3, 2, n, right(pe))
					for i := range n {
						want[2*i], got[3*i] = uint16(i+1), uint16(i+1)
					}
					if err := first(equal("object", x.Local(), want), equal("got", dst, got)); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			sec: "9.6.1", name: "ibput: blocks of elements",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[uint8](pe, 12)
				shmem.PutBlocks(x.Slice(1, 12), []uint8{1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9}, 4, 4, 3, 3, right(pe))
				shmem.PutBlocks(x, nil, 4, 4, 0, 3, right(pe))
				shmem.PutBlocks(x, nil, 4, 4, 3, 0, right(pe))
				pe.BarrierAll()
				return equal("object", x.Local(), []uint8{0, 1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9})
			},
		},
		{
			sec: "9.6.1", name: "ibget: blocks of elements, side by side",
			faults: []fault{lostGets},
			run: func(pe *shmem.PE) error {
				x := alloc[int64](pe, 11)
				copy(x.Local(), count(int64(100*pe.MyPE()), 11))
				pe.BarrierAll()
				dst := make([]int64, 6)
				shmem.GetBlocks(dst, x.Slice(1, 11), 2, 4, 2, 3, right(pe))
				base := int64(100 * right(pe))
				return equal("got", dst, []int64{base + 1, base + 2, base + 5, base + 6, base + 9, base + 10})
			},
		},
		{
			sec: "9.6.1", name: "iput: strides less than 1 and blocks that overlap are refused",
			run: func(pe *shmem.PE) error {
				x, s := alloc[int](pe, 8), make([]int, 8)
				return first(
					refused("destination stride 0", func() { shmem.PutStrided(x, s, 0, 1, 2, 0) }),
					refused("source stride -1", func() { shmem.GetStrided(s, x, 1, -1, 2, 0) }),
					refused("blocks that overlap", func() { shmem.PutBlocks(x, s, 1, 2, 2, 2, 0) }),
				)
			},
		},
	}
}

func nbiRows() []row {
	return []row{
		{
			sec: "9.6.2", name: "put_nbi: there after quiet, and the source may be reused",
			faults: []fault{lostPuts, quietIgnored},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 64)
				src := count(int32(1), 64)
				shmem.PutNBI(x, src, right(pe))
				pe.Quiet()
				clear(src)
				dst := make([]int32, 64)
				shmem.Get(dst, x, right(pe))
				return equal("got", dst, count(int32(1), 64))
			},
		},
		{
			sec: "9.6.2", name: "get_nbi: there after quiet",
			faults: []fault{lostGets, quietIgnored},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 64)
				copy(x.Local(), count(int32(100*pe.MyPE()), 64))
				pe.BarrierAll()
				dst := make([]int32, 64)
				shmem.GetNBI(dst, x, right(pe))
				pe.Quiet()
				return equal("got", dst, count(int32(100*right(pe)), 64))
			},
		},
		{
			sec: "9.6.2", name: "put_nbi and get_nbi: many at once, to all PEs, done by one quiet",
			faults: []fault{lostPuts, lostGets, quietIgnored},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				const each = 20
				x, y := alloc[int64](pe, n*each), alloc[int64](pe, each)
				copy(y.Local(), count(int64(1000*pe.MyPE()), each))
				pe.BarrierAll()
				src, dst := make([][]int64, n), make([][]int64, n)
				for i := range n {
					src[i], dst[i] = count(int64(100*pe.MyPE()+i), each), make([]int64, each)
					for j := range each {
						shmem.PutNBI(x.At(pe.MyPE()*each+j), src[i][j:j+1], i)
						shmem.GetNBI(dst[i][j:j+1], y.At(j), i)
					}
				}
				pe.Quiet()
				if err := all(n, func(i int) error { return equal("got from that PE", dst[i], count(int64(1000*i), each)) }); err != nil {
					return err
				}
				pe.SyncAll()
				return all(n, func(i int) error {
					return equal("put by that PE", x.Local()[i*each:(i+1)*each], count(int64(100*i+pe.MyPE()), each))
				})
			},
		},
		{
			sec: "9.6.2", name: "put_nbi and get_nbi: of no elements do nothing",
			run: func(pe *shmem.PE) error {
				x := alloc[int8](pe, 1)
				shmem.PutNBI(x, nil, right(pe))
				shmem.GetNBI(nil, x, right(pe))
				shmem.PutNBI(x.Slice(1, 1), []int8{}, right(pe))
				pe.BarrierAll()
				return equal("object", x.Local()[0], int8(0))
			},
		},
		{
			sec: "9.6.2", name: "put_nbi: a barrier completes it too",
			faults: []fault{lostPuts, quietIgnored},
			run: func(pe *shmem.PE) error {
				x := alloc[complex128](pe, 3)
				shmem.PutNBI(x, []complex128{1, 2i, 3 + 4i}, left(pe))
				pe.BarrierAll()
				return equal("object", x.Local(), []complex128{1, 2i, 3 + 4i})
			},
		},
	}
}
