// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"sync"

	"github.com/goshmem/goshmem/shmem"
)

func lockRows() []row {
	return []row{
		{
			sec: "9.13.1", name: "set_lock, clear_lock: one PE at a time, with locks at any offset",
			faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				locks, x := alloc[shmem.Lock](pe, 5), alloc[int64](pe, 5)
				for i := range locks.Len() {
					if err := counted(pe, x.At(i), func() { shmem.SetLock(locks.At(i)) }, func() { shmem.ClearLock(locks.At(i)) }); err != nil {
						return err
					}
				}
				return countedAtOnce(pe, locks, alloc[int64](pe, locks.Len()))
			},
		},
		{
			sec: "9.13.1", name: "set_lock: without it the count is wrong",
			np: 2, faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				lock, x := alloc[shmem.Lock](pe, 1), alloc[int64](pe, 1)
				return counted(pe, x, func() { shmem.SetLock(lock) }, func() { shmem.ClearLock(lock) })
			},
			without: func(pe *shmem.PE) error { return counted(pe, alloc[int64](pe, 1), func() {}, pe.Quiet) },
		},
		{
			sec: "9.13.1", name: "test_lock: takes a free lock, and not one that is held",
			faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				lock := alloc[shmem.Lock](pe, 1)
				held, asked := alloc[int64](pe, 1), alloc[int64](pe, 1)
				if pe.MyPE() == 0 {
					if err := equal("free, then held", []bool{shmem.TestLock(lock), shmem.TestLock(lock)}, []bool{true, false}); err != nil {
						return err
					}
					for i := range pe.NPEs() {
						shmem.PutValue(held, 1, i)
					}
				}
				shmem.WaitUntil(held, shmem.CmpEQ, 1)
				if pe.MyPE() != 0 {
					if err := equal("held by another", shmem.TestLock(lock), false); err != nil {
						return err
					}
				}
				shmem.AtomicInc(asked, 0)
				if pe.MyPE() == 0 {
					shmem.WaitUntil(asked, shmem.CmpEQ, int64(pe.NPEs()))
					shmem.ClearLock(lock)
				}
				x := alloc[int64](pe, 1)
				return counted(pe, x, func() {
					for !shmem.TestLock(lock) {
						continue
					}
				}, func() { shmem.ClearLock(lock) })
			},
		},
		{
			sec: "9.13.1", name: "set_lock, test_lock: of many PEs at once, mixed",
			faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				lock, x := alloc[shmem.Lock](pe, 3).At(1), alloc[int64](pe, 1)
				turn := 0
				return counted(pe, x, func() {
					if turn++; turn%3 == 0 && shmem.TestLock(lock) {
						return
					}
					shmem.SetLock(lock)
				}, func() { shmem.ClearLock(lock) })
			},
		},
		{
			sec: "9.13.1", name: "clear_lock: the next holder sees what the last one put, non-blocking too",
			np: 2, faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				lock, x := alloc[shmem.Lock](pe, 1), alloc[int64](pe, 20)
				last := pe.NPEs() - 1
				copy(x.Local(), count(int64(0), 20))
				pe.SyncAll()
				for range 5 {
					shmem.SetLock(lock)
					got := make([]int64, 20)
					shmem.Get(got, x, last)
					if err := equal("data of the last holder", got, count(got[0], 20)); err != nil {
						return err
					}
					src := count(got[0]+1, 20)
					shmem.PutNBI(x.Slice(0, 10), src[:10], last)
					shmem.PutNBI(x.Slice(10, 20), src[10:], last)
					shmem.ClearLock(lock)
				}
				pe.BarrierAll()
				return equal("times", shmem.GetValue(x.At(0), last), int64(5*pe.NPEs()))
			},
		},
		{
			sec: "9.13.1", name: "set_lock: of a holder, and clear_lock of another, are refused",
			faults: []fault{lostFetches, lostAtomics},
			run: func(pe *shmem.PE) error {
				lock := alloc[shmem.Lock](pe, 1)
				return first(
					refused("clear_lock of a free lock", func() { shmem.ClearLock(lock) }),
					func() error {
						shmem.SetLock(lock)
						defer shmem.ClearLock(lock)
						return refused("set_lock by the holder", func() { shmem.SetLock(lock) })
					}(),
					refused("clear_lock again", func() { shmem.ClearLock(lock) }),
				)
			},
		},
	}
}

// counted counts on PE 0 between lock and unlock, by separate reading and writing.
func counted(pe *shmem.PE, x shmem.Sym[int64], lock, unlock func()) error {
	const each = 10
	for range each {
		lock()
		shmem.PutValue(x, shmem.GetValue(x, 0)+1, 0)
		unlock()
	}
	pe.BarrierAll()
	return equal("count", shmem.GetValue(x, 0), int64(each*pe.NPEs()))
}

// countedAtOnce counts on PE 0 in each x under its lock, by a goroutine each, so that a PE
// stands in several lines at once.
func countedAtOnce(pe *shmem.PE, locks shmem.Sym[shmem.Lock], x shmem.Sym[int64]) error {
	const each = 10
	var wg sync.WaitGroup
	for i := range locks.Len() {
		wg.Go(func() {
			for range each {
				shmem.SetLock(locks.At(i))
				shmem.PutValue(x.At(i), shmem.GetValue(x.At(i), 0)+1, 0)
				shmem.ClearLock(locks.At(i))
			}
		})
	}
	wg.Wait()
	pe.BarrierAll()
	for i := range locks.Len() {
		if err := equal("count at once", shmem.GetValue(x.At(i), 0), int64(each*pe.NPEs())); err != nil {
			return err
		}
	}
	return nil
}
