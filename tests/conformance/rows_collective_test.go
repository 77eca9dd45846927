// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

func barrierRows() []row {
	return []row{
		{
			sec: "9.10.1", name: "barrier_all: completes puts, atomics and signals of all PEs",
			faults: []fault{quietIgnored, lostPuts, lostWords, lostAtomics, lostSignals},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				x, y, z := alloc[int32](pe, 8*n), alloc[int64](pe, n), alloc[uint16](pe, 1)
				data, sig := alloc[int32](pe, 8*n), alloc[uint64](pe, 1)
				mine := [2]int{8 * pe.MyPE(), 8*pe.MyPE() + 8}
				for i := range n {
					shmem.Put(x.Slice(mine[0], mine[1]), count(int32(mine[0]), 8), i)
					shmem.PutValue(y.At(pe.MyPE()), int64(pe.MyPE()), i)
					shmem.AtomicAdd(z, 1, i)
					shmem.PutSignal(data.Slice(mine[0], mine[1]), count(int32(mine[0]), 8), sig, 1, shmem.SigAdd, i)
				}
				pe.BarrierAll()
				return first(
					equal("puts", x.Local(), count(int32(0), 8*n)),
					equal("values", y.Local(), count(int64(0), n)),
					equal("atomics", z.Local()[0], uint16(n)),
					equal("data of signals", data.Local(), count(int32(0), 8*n)),
					equal("signals", sig.Local()[0], uint64(n)),
				)
			},
		},
		{
			sec: "9.10.1", name: "barrier_all: nobody leaves before the last has come, many in a row",
			np: 2, faults: []fault{lostSync, lostWords},
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 1)
				for i := range 3 * pe.NPEs() {
					if pe.MyPE() == i%pe.NPEs() {
						for j := range pe.NPEs() {
							shmem.PutValue(x, i+1, j)
						}
					}
					pe.BarrierAll()
					if err := equal("value of the round", x.Local()[0], i+1); err != nil {
						return err
					}
					pe.BarrierAll()
				}
				return nil
			},
		},
		{
			sec: "9.10.3", name: "sync: stores to the own memory are visible to who gets them afterwards",
			np: 2, faults: []fault{lostSync, lostGets},
			run: func(pe *shmem.PE) error { return stored(pe, pe.World().Sync) },
		},
		{
			sec: "9.10.4", name: "sync_all: stores to the own memory are visible to who gets them afterwards",
			np: 2, faults: []fault{lostSync, lostGets},
			run: func(pe *shmem.PE) error { return stored(pe, pe.SyncAll) },
		},
		{
			sec: "9.10.4", name: "sync_all: after a quiet it is a barrier",
			np: 2, faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 10)
				putSlowly(pe, x, left(pe))
				pe.Quiet()
				pe.SyncAll()
				return equal("data", x.Local(), count(1, 10))
			},
			without: func(pe *shmem.PE) error {
				x := alloc[int](pe, 10)
				putSlowly(pe, x, left(pe))
				pe.SyncAll() // completes nothing
				return equal("data", x.Local(), count(1, 10))
			},
		},
	}
}

// stored stores, synchronises and gets from all.
func stored(pe *shmem.PE, sync func()) error {
	x := alloc[int](pe, 10)
	for i := range 3 {
		copy(x.Local(), count(100*i+pe.MyPE(), 10))
		sync()
		for j := range pe.NPEs() {
			got := make([]int, 10)
			shmem.Get(got, x, j)
			if err := equal("got", got, count(100*i+j, 10)); err != nil {
				return err
			}
		}
		sync()
	}
	return nil
}

// lengths are numbers of elements that meet edges of collectives: of nothing,
// of fewer elements than PEs, and of blocks.
var lengths = []int{0, 1, 2, 5, 64, 1000, 3000}

func exchangeRows() []row {
	return []row{
		{
			sec: "9.10.5", name: "alltoall: block j of PE i becomes block i of PE j",
			heap: 2 << 20, faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				for _, m := range lengths {
					dst, src := alloc[int32](pe, n*m+1), alloc[int32](pe, n*m)
					for j := range n {
						copy(src.Local()[j*m:], count(int32(pe.MyPE()<<16+j<<12), m))
					}
					shmem.AllToAll(pe.World(), dst, src)
					var want []int32
					for i := range n {
						want = append(want, count(int32(i<<16+pe.MyPE()<<12), m)...)
					}
					if err := equal("dst", dst.Local(), append(want, 0)); err != nil {
						return err
					}
					shmem.Free(dst)
					shmem.Free(src)
				}
				return nil
			},
		},
		{
			sec: "9.10.7", name: "broadcast: from each root to all PEs, the root included",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				for _, m := range lengths {
					dst, src := alloc[int16](pe, m+1), alloc[int16](pe, m)
					for root := range pe.NPEs() {
						copy(src.Local(), count(int16(pe.MyPE()*1000+root), m))
						shmem.Broadcast(pe.World(), dst, src, root)
						if err := equal("dst", dst.Local(), append(count(int16(root*1000+root), m), 0)); err != nil {
							return err
						}
					}
					shmem.Free(dst)
					shmem.Free(src)
				}
				return nil
			},
		},
		{
			sec: "9.10.7", name: "broadcast: elements of any type",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				dst, src := alloc[pair](pe, 2), alloc[pair](pe, 2)
				if pe.MyPE() == pe.NPEs()-1 {
					copy(src.Local(), []pair{{1, [3]int8{2, 3, 4}}, {5, [3]int8{6, 7, 8}}})
				}
				shmem.Broadcast(pe.World(), dst, src, pe.NPEs()-1)
				return equal("dst", dst.Local(), []pair{{1, [3]int8{2, 3, 4}}, {5, [3]int8{6, 7, 8}}})
			},
		},
		{
			sec: "9.10.8", name: "fcollect: the blocks of all PEs, in their order, on every PE",
			heap: 2 << 20, faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				for _, m := range lengths {
					dst, src := alloc[float64](pe, n*m+1), alloc[float64](pe, m)
					copy(src.Local(), count(float64(m*pe.MyPE()), m))
					shmem.FCollect(pe.World(), dst, src)
					if err := equal("dst", dst.Local(), append(count(0.0, n*m), 0)); err != nil {
						return err
					}
					shmem.Free(dst)
					shmem.Free(src)
				}
				return nil
			},
		},
		{
			sec: "9.10.8", name: "fcollect: source may change at once, and collectives may follow each other",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				a, b, src := alloc[int](pe, n), alloc[int](pe, n), alloc[int](pe, 1)
				src.Local()[0] = pe.MyPE()
				shmem.FCollect(pe.World(), a, src)
				src.Local()[0] = pe.MyPE() + 100
				shmem.FCollect(pe.World(), b, src)
				src.Local()[0] = -1
				shmem.AllToAll(pe.World(), a, b)
				// Block me of every PE's b: 100 + me.
				return first(
					equal("fcollect", b.Local(), count(100, n)),
					equal("alltoall", a.Local(), slices.Repeat([]int{100 + pe.MyPE()}, n)),
				)
			},
		},
		{
			sec: "9.10.8", name: "collectives of no elements match, and those that follow too",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				x, y := alloc[int64](pe, n), alloc[int64](pe, n)
				none, w := x.Slice(0, 0), pe.World()
				empty := alloc[int64](pe, 0)
				for range 3 {
					shmem.FCollect(w, y, none)
					shmem.Broadcast(w, y, none, n-1)
					shmem.AllToAll(w, y, none)
					shmem.SumReduce(w, y, none)
					shmem.SumReduce(w, empty, empty)
					x.Local()[0] = int64(pe.MyPE())
					shmem.FCollect(w, y, x.Slice(0, 1))
					if err := equal("fcollect", y.Local(), count(int64(0), n)); err != nil {
						return err
					}
				}
				return nil
			},
		},
	}
}
