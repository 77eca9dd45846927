// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

func futureRows() []row {
	return []row{
		{
			sec: "9.6.2", name: "putasync (beyond the specification): complete at its wait, in any goroutine",
			faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int64](pe, 4*100)
				err := together(4, func(i int) error {
					part := x.Slice(100*i, 100*i+100)
					src := count(int64(100*i), 100)
					f := shmem.PutAsync(part, src, right(pe))
					f.Wait()
					clear(src)
					got := make([]int64, 100)
					shmem.Get(got, part, right(pe))
					return first(equal("put", got, count(int64(100*i), 100)))
				})
				pe.SyncAll()
				return first(err, equal("all", x.Local(), count(int64(0), 400)))
			},
		},
		{
			sec: "9.6.2", name: "getasync (beyond the specification): the data is there after its wait, in any order",
			faults: []fault{quietIgnored, lostGets},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 50)
				copy(x.Local(), count(int32(1000*pe.MyPE()), 50))
				pe.BarrierAll()
				dst := make([][]int32, pe.NPEs())
				futures := make([]shmem.Future, pe.NPEs())
				for i := range futures {
					dst[i] = make([]int32, 50)
					futures[i] = shmem.GetAsync(dst[i], x, i)
				}
				for i, f := range slices.Backward(futures) {
					f.Wait()
					f.Wait()
					if err := equal("got from that PE", dst[i], count(int32(1000*i), 50)); err != nil {
						return err
					}
				}
				shmem.Future{}.Wait()
				return nil
			},
		},
		{
			sec: "9.7.2", name: "atomicfetchaddasync (beyond the specification): every sum counts, each old value once",
			faults: []fault{quietIgnored, lostFetches, everyOtherAtomicLost},
			run: func(pe *shmem.PE) error {
				x := alloc[uint32](pe, 1)
				old := make([]uint32, 8)
				var futures [8]shmem.Future
				for i := range old {
					old[i] = 1 << 31
					futures[i] = shmem.AtomicFetchAddAsync(&old[i], x, 1, right(pe))
				}
				for _, f := range futures {
					f.Wait()
				}
				slices.Sort(old)
				if err := equal("old values", old, count(uint32(0), 8)); err != nil {
					return err
				}
				pe.BarrierAll()
				return equal("sum", shmem.AtomicFetch(x, right(pe)), 8)
			},
		},
	}
}

// A link is an element of a list that spans PEs.
type link struct {
	Next  shmem.Ref[link]
	Value int64
}

func refRows() []row {
	return []row{
		{
			sec: "9.3.1", name: "references (beyond the specification): name an element of a PE, wherever they are read",
			faults: []fault{lostWords, lostGets},
			run: func(pe *shmem.PE) error {
				x, ref := alloc[pair](pe, 3), alloc[shmem.Ref[pair]](pe, 2)
				x.Local()[2] = pair{int64(pe.MyPE()), [3]int8{1, 2, 3}}
				shmem.PutValue(ref.At(1), x.At(2).Ref(pe.MyPE()), right(pe))
				pe.BarrierAll()
				zero, r := ref.Local()[0], ref.Local()[1]
				y := r.Sym(pe)
				return first(
					equal("PE", r.PE(), left(pe)),
					equal("element", shmem.GetValue(y, r.PE()), pair{int64(left(pe)), [3]int8{1, 2, 3}}),
					equal("reference to it again", y.Ref(r.PE()), r),
					equal("zero reference", []int{zero.PE(), zero.Sym(pe).Len()}, []int{-1, 0}),
				)
			},
		},
		{
			sec: "9.3.1", name: "references (beyond the specification): a list without locks, to which all PEs add",
			faults: []fault{lostFetches, lostPuts},
			run: func(pe *shmem.PE) error {
				const each = 5
				head, links := alloc[shmem.Ref[link]](pe, 1), alloc[link](pe, each)
				for i := range each {
					l := links.At(i)
					r := l.Ref(pe.MyPE())
					for next := shmem.AtomicFetch(head, 0); ; {
						shmem.Put(l, []link{{next, int64(each*pe.MyPE() + i)}}, pe.MyPE())
						pe.Quiet()
						seen := shmem.AtomicCompareSwap(head, next, r, 0)
						if seen == next {
							break
						}
						next = seen
					}
				}
				pe.BarrierAll()
				var got []int64
				for r := shmem.AtomicFetch(head, 0); r != 0 && len(got) < each*pe.NPEs()+1; {
					l := shmem.GetValue(r.Sym(pe), r.PE())
					got = append(got, l.Value)
					r = l.Next
				}
				slices.Sort(got)
				return equal("values", got, count(int64(0), each*pe.NPEs()))
			},
		},
		{
			sec: "9.3.2", name: "references (beyond the specification): to a freed object are refused",
			run: func(pe *shmem.PE) error {
				x, y := alloc[int64](pe, 4), alloc[int64](pe, 4)
				r, s := x.At(3).Ref(right(pe)), y.At(3).Ref(right(pe))
				shmem.Free(x)
				return first(
					refused("an object that was freed", func() { r.Sym(pe) }),
					equal("an object that was not", s.Sym(pe).Ref(right(pe)), s),
				)
			},
		},
	}
}
