// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/goshmem/goshmem/shmem"
)

// pair holds no pointers and has padding, and a size that is no power of two.
type pair struct {
	a int64
	b [3]int8
}

func memoryRows() []row {
	return []row{
		{
			sec: "9.3.1", name: "malloc: the same object on every PE",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				alloc[byte](pe, 3) // what follows does not start at the heap's beginning
				x := alloc[pair](pe, 5)
				shmem.Put(x, []pair{{1, [3]int8{2, 3, 4}}, {int64(pe.MyPE()), [3]int8{}}}, right(pe))
				pe.BarrierAll()
				return equal("object", x.Local(), []pair{{1, [3]int8{2, 3, 4}}, {int64(left(pe)), [3]int8{}}, {}, {}, {}})
			},
		},
		{
			sec: "9.3.1", name: "malloc: aligned for its element type",
			run: func(pe *shmem.PE) error {
				for range 5 {
					alloc[byte](pe, 1)
					for _, address := range []uintptr{
						addressOf(alloc[int16](pe, 1)) % 2, addressOf(alloc[float32](pe, 1)) % 4,
						addressOf(alloc[pair](pe, 1)) % 8, addressOf(alloc[complex128](pe, 1)) % 8,
					} {
						if address != 0 {
							return broken("%d bytes off", address)
						}
					}
				}
				return nil
			},
		},
		{
			sec: "9.3.1", name: "malloc: no two objects overlap",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				// The same sequence on every PE.
				r := rand.New(rand.NewPCG(1, 2))
				var live []shmem.Sym[int32]
				for i := range 40 {
					if len(live) > 8 {
						at := r.IntN(len(live))
						shmem.Free(live[at])
						live = slices.Delete(live, at, at+1)
					}
					x := alloc[int32](pe, 1+r.IntN(700))
					shmem.Put(x, count(int32(i<<16), x.Len()), right(pe))
					live = append(live, x)
				}
				pe.BarrierAll()
				for _, x := range live {
					if got := x.Local(); !slices.Equal(got, count(got[0], len(got))) || got[0] == 0 {
						return broken("an object of %d elements holds another's", len(got))
					}
				}
				return nil
			},
		},
		{
			sec: "9.3.1", name: "malloc: is a barrier, and completes what went before on the default context",
			np: 2, faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 10)
				putSlowly(pe, x, left(pe))
				alloc[int](pe, 1)
				return equal("put before Alloc", x.Local(), count(1, 10))
			},
		},
		{
			sec: "9.3.1", name: "malloc: size 0 gives nothing, without a barrier",
			np: 2,
			run: func(pe *shmem.PE) error {
				if pe.MyPE() == 0 { // alone
					x := alloc[int64](pe, 0)
					if x.Len() != 0 || len(x.Local()) != 0 {
						return broken("%d elements", x.Len())
					}
					shmem.Put(x, nil, 1)
					shmem.Free(x)
				}
				pe.BarrierAll()
				return nil
			},
		},
		{
			sec: "9.3.1", name: "malloc: too much is an error on every PE that says how much, and how to get more",
			run: func(pe *shmem.PE) error {
				before := alloc[int](pe, 1)
				for _, n := range []int{1 << 40, 1 << 60} {
					_, err := shmem.Alloc[int64](pe, n)
					if err == nil {
						return broken("%d elements were given", n)
					}
					for _, part := range []string{"SHMEM_SYMMETRIC_SIZE", "bytes", "free"} {
						if !strings.Contains(err.Error(), part) {
							return broken("the error does not tell %s: %v", part, err)
						}
					}
				}
				after := alloc[int](pe, 1)
				before.Local()[0], after.Local()[0] = 1, 2
				return equal("objects around the failure", [2]int{before.Local()[0], after.Local()[0]}, [2]int{1, 2})
			},
		},
		{
			sec: "9.3.2", name: "free: nothing to free is no barrier",
			np: 2,
			run: func(pe *shmem.PE) error {
				if pe.MyPE() == 1 { // alone
					shmem.Free(shmem.Sym[int32]{})
				}
				pe.BarrierAll()
				return nil
			},
		},
		{
			sec: "9.3.2", name: "free: is a barrier, and completes what went before on the default context",
			np: 2, faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				x, y := alloc[int](pe, 10), alloc[int](pe, 1)
				putSlowly(pe, x, left(pe))
				shmem.Free(y)
				return equal("put before Free", x.Local(), count(1, 10))
			},
		},
		{
			sec: "9.3.2", name: "free: the memory is used again",
			run: func(pe *shmem.PE) error {
				for range 100 { // far more than the heap, together
					shmem.Free(alloc[byte](pe, rowHeap/4))
				}
				return nil
			},
		},
		{
			sec: "9.3.2", name: "free: the object is refused from then on",
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 2)
				part, me := x.At(1), pe.MyPE()
				shmem.Free(x)
				return first(
					refused("put", func() { shmem.Put(x, []int{1}, me) }),
					refused("atomic on a part", func() { shmem.AtomicAdd(part, 1, me) }),
					refused("free", func() { shmem.Free(x) }),
				)
			},
		},
	}
}

func resizeRows() []row {
	return []row{
		{
			sec: "9.3.3", name: "realloc: keeps the smaller of old and new, and the rest is zero",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 10)
				shmem.Put(x, count(int32(1), 10), right(pe))
				pe.BarrierAll()
				next := alloc[int32](pe, 1) // in the way
				next.Local()[0] = -1
				y, err := shmem.Realloc(pe, x, 1000)
				if err != nil {
					return err
				}
				z, err := shmem.Realloc(pe, y, 4)
				if err != nil {
					return err
				}
				w, err := shmem.Realloc(pe, z, 6)
				if err != nil {
					return err
				}
				return first(
					equal("after growing, shrinking and growing", w.Local(), []int32{1, 2, 3, 4, 0, 0}),
					equal("the neighbour", next.Local()[0], -1),
				)
			},
		},
		{
			sec: "9.3.3", name: "realloc: of nothing allocates, to nothing frees",
			run: func(pe *shmem.PE) error {
				x, err := shmem.Realloc(pe, shmem.Sym[int8]{}, 3)
				if err != nil {
					return err
				}
				shmem.Put(x, []int8{1, 2, 3}, pe.MyPE())
				pe.Quiet()
				got := slices.Clone(x.Local())
				y, err := shmem.Realloc(pe, x, 0)
				if err != nil {
					return err
				}
				return first(
					equal("allocated", got, []int8{1, 2, 3}),
					equal("elements after freeing", y.Len(), 0),
					refused("the object", func() { shmem.GetValue(x.At(0), pe.MyPE()) }),
				)
			},
		},
		{
			sec: "9.3.3", name: "realloc: on failure the old object is as it was, on every PE",
			faults: []fault{lostPuts, quietIgnored},
			run: func(pe *shmem.PE) error {
				x := alloc[int64](pe, 2)
				copy(x.Local(), []int64{1, 2})
				if _, err := shmem.Realloc(pe, x, 1<<50); err == nil {
					return broken("no error")
				}
				shmem.Put(x.At(1), []int64{3}, right(pe))
				pe.BarrierAll()
				return equal("old object", x.Local(), []int64{1, 3})
			},
		},
		{
			sec: "9.3.4", name: "align: powers of two up to 4096, on every PE",
			run: func(pe *shmem.PE) error {
				for align := 8; align <= 4096; align *= 2 {
					alloc[byte](pe, 1)
					x, err := shmem.AllocAligned[int64](pe, 3, align)
					if err != nil {
						return err
					}
					if off := addressOf(x) % uintptr(align); off != 0 {
						return broken("aligned to %d: %d bytes off", align, off)
					}
					for _, v := range x.Local() {
						if v != 0 {
							return broken("aligned to %d: not zeroed", align)
						}
					}
				}
				return nil
			},
		},
		{
			sec: "9.3.4", name: "align: other values are refused",
			run: func(pe *shmem.PE) error {
				for _, align := range []int{-8, 0, 3, 4, 100, 8192} {
					if err := refused("alignment", func() { _, _ = shmem.AllocAligned[int64](pe, 1, align) }); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			sec: "9.3.4", name: "align: realloc keeps the data of an aligned object",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				x, err := shmem.AllocAligned[int16](pe, 5, 4096)
				if err != nil {
					return err
				}
				shmem.Put(x, count(int16(1), 5), right(pe))
				pe.BarrierAll()
				y, err := shmem.Realloc(pe, x, 7)
				if err != nil {
					return err
				}
				if addressOf(y)%2 != 0 {
					return broken("an int16 at an odd address")
				}
				return equal("data", y.Local(), []int16{1, 2, 3, 4, 5, 0, 0})
			},
		},
		{
			sec: "9.3.5", name: "malloc_with_hints: an object like any other, whatever the hints",
			faults: []fault{lostAtomics, lostSignals},
			run: func(pe *shmem.PE) error {
				for _, hint := range []shmem.Hint{0, shmem.HintAtomicsRemote, shmem.HintSignalRemote, shmem.HintAtomicsRemote | shmem.HintSignalRemote} {
					x, err := shmem.AllocHint[uint64](pe, 4, hint)
					if err != nil {
						return err
					}
					if err := equal("fresh", x.Local(), make([]uint64, 4)); err != nil {
						return err
					}
					pe.SyncAll() // all have looked
					shmem.AtomicAdd(x.At(0), 5, right(pe))
					shmem.PutSignal(x.At(1), []uint64{6}, x.At(2), 7, shmem.SigSet, right(pe))
					pe.BarrierAll()
					if err := equal("object", x.Local(), []uint64{5, 6, 7, 0}); err != nil {
						return err
					}
				}
				x, err := shmem.AllocHint[uint64](pe, 0, shmem.HintAtomicsRemote)
				return first(err, equal("elements", x.Len(), 0))
			},
		},
		{
			sec: "9.3.6", name: "calloc: zeroed, also where others' data was",
			faults: []fault{quietIgnored},
			run: func(pe *shmem.PE) error {
				for i := range 20 {
					n := 1 + i*997%5000
					x := alloc[uint64](pe, n)
					for j, v := range x.Local() {
						if v != 0 {
							return broken("element %d of %d is %#x", j, n, v)
						}
					}
					pe.SyncAll() // all have looked
					shmem.Put(x, slices.Repeat([]uint64{^uint64(0)}, n), right(pe))
					shmem.Free(x)
				}
				return nil
			},
		},
		{
			sec: "9.3.6", name: "calloc: a number of elements that overflows the size is too much",
			run: func(pe *shmem.PE) error {
				if _, err := shmem.Alloc[[1 << 12]int64](pe, 1<<50); err == nil {
					return broken("no error")
				}
				return nil
			},
		},
	}
}

// addressOf returns where the own elements lie.
func addressOf[T any](x shmem.Sym[T]) uintptr { return reflect.ValueOf(x.Local()).Pointer() }
