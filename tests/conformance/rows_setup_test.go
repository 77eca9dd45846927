// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"strings"

	"github.com/goshmem/goshmem/shmem"
)

func setupRows() []row {
	return []row{
		{
			sec: "9.1.1", name: "init: every PE can be reached at once",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[uint64](pe, 1)
				for i := range pe.NPEs() {
					shmem.AtomicAdd(x, 1, i)
				}
				pe.BarrierAll()
				return equal("PEs that reached this one", x.Local()[0], uint64(pe.NPEs()))
			},
		},
		{
			sec: "9.1.1", name: "init: may be called again, and then needs its own finalize",
			on: onProcesses,
			run: func(pe *shmem.PE) error {
				again, err := shmem.Init()
				if err != nil {
					return err
				}
				if again != pe {
					return broken("the second Init gave another PE")
				}
				if err := again.Finalize(); err != nil {
					return err
				}
				if !shmem.Initialized() {
					return broken("the first of two Finalizes ended the PE")
				}
				pe.BarrierAll()
				return nil
			},
		},
		{
			sec: "9.1.2", name: "my_pe: each of 0 to n_pes-1 is one PE's",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[uint64](pe, 1)
				shmem.AtomicXor(x, 1<<pe.MyPE(), 0)
				pe.BarrierAll()
				return equal("PEs", shmem.GetValue(x, 0), uint64(1)<<pe.NPEs()-1)
			},
		},
		{
			sec: "9.1.3", name: "n_pes: all PEs agree",
			faults: []fault{lostGets},
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 1)
				x.Local()[0] = pe.NPEs()
				pe.BarrierAll()
				return all(pe.NPEs(), func(i int) error { return equal("n_pes", shmem.GetValue(x, i), pe.NPEs()) })
			},
		},
		{
			sec: "9.1.4", name: "finalize: completes puts that nothing else has",
			ends: finalizes, faults: []fault{lostPuts, quietIgnored},
			run: func(pe *shmem.PE) error {
				x := alloc[int64](pe, 100)
				got := x.Local() // stays memory after the end
				shmem.PutNBI(x, count(int64(pe.MyPE()), 100), left(pe))
				if err := pe.Finalize(); err != nil {
					return err
				}
				return equal("the data of the right neighbour", got, count(int64(right(pe)), 100))
			},
		},
		{
			sec: "9.1.4", name: "finalize: all but the last are barriers",
			on: onProcesses, np: 2,
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 1)
				if _, err := shmem.Init(); err != nil {
					return err
				}
				shmem.PutValue(x, 7, right(pe))
				if err := pe.Finalize(); err != nil {
					return err
				}
				return equal("put before the inner finalize", x.Local()[0], 7)
			},
		},
		{
			sec: "9.1.5", name: "query_initialized: from the first init to the last finalize",
			on: onProcesses, ends: finalizes,
			run: func(pe *shmem.PE) error {
				if !shmem.Initialized() {
					return broken("not initialized before Finalize")
				}
				if err := pe.Finalize(); err != nil {
					return err
				}
				return equal("initialized after Finalize", shmem.Initialized(), false)
			},
		},
	}
}

func exitRows() []row {
	// One PE exits, the others are busy with what never ends.
	exit := func(code int, others func(pe *shmem.PE, x shmem.Sym[uint64])) func(*shmem.PE) error {
		return func(pe *shmem.PE) error {
			x := alloc[uint64](pe, 1)
			if pe.MyPE() == pe.NPEs()-1 {
				pe.GlobalExit(code)
			}
			others(pe, x)
			return broken("a PE went on after GlobalExit")
		}
	}
	inBarrier := func(pe *shmem.PE, _ shmem.Sym[uint64]) { pe.BarrierAll() }
	inWait := func(_ *shmem.PE, x shmem.Sym[uint64]) { shmem.WaitUntil(x, shmem.CmpNE, 0) }
	inSignalWait := func(_ *shmem.PE, x shmem.Sym[uint64]) { shmem.SignalWaitUntil(x, shmem.CmpEQ, 1) }
	inPoll := func(_ *shmem.PE, x shmem.Sym[uint64]) {
		for !shmem.Test(x, shmem.CmpNE, 0) {
			continue
		}
	}
	computing := func(pe *shmem.PE, _ shmem.Sym[uint64]) {
		for pe.NPEs() > 0 {
			continue
		}
	}
	return []row{
		{sec: "9.1.6", name: "global_exit: by a lone PE or one of many", ends: exitsWith7, run: exit(7, inBarrier)},
		{sec: "9.1.6", name: "global_exit: status 0 ends the job too", np: 2, ends: exitsWith0, run: exit(0, inBarrier)},
		{sec: "9.1.6", name: "global_exit: ends waits", np: 2, ends: exitsWith7, run: exit(7, inWait)},
		{sec: "9.1.6", name: "global_exit: status 0 ends waits for a signal", np: 2, ends: exitsWith0, run: exit(0, inSignalWait)},
		{sec: "9.1.6", name: "global_exit: ends PEs that poll", np: 2, ends: exitsWith7, run: exit(7, inPoll)},
		{sec: "9.1.6", name: "global_exit: ends PEs that compute", np: 2, on: onProcesses, ends: exitsWith7, run: exit(7, computing)},
		{
			sec: "9.1.7", name: "pe_accessible: PEs of the job are, no others",
			run: func(pe *shmem.PE) error {
				if err := all(pe.NPEs(), func(i int) error { return equal("accessible", pe.Accessible(i), true) }); err != nil {
					return err
				}
				return first(
					equal("PE -1", pe.Accessible(-1), false),
					equal("PE n_pes", pe.Accessible(pe.NPEs()), false),
				)
			},
		},
		{
			sec: "9.1.8", name: "addr_accessible: an object is from Alloc to Free, on every PE",
			faults: []fault{lostFetches},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 1)
				x.Local()[0] = 5
				pe.BarrierAll()
				err := all(pe.NPEs(), func(i int) error { return equal("value", shmem.AtomicFetch(x, i), 5) })
				shmem.Free(x)
				return first(err,
					refused("a freed object", func() { shmem.AtomicFetch(x, 0) }),
					refused("the zero object", func() { shmem.AtomicFetch(shmem.Sym[int32]{}, 0) }),
				)
			},
		},
		{
			sec: "9.1.9", name: "ptr: the own elements are Local's",
			run: func(pe *shmem.PE) error {
				x := alloc[int16](pe, 3)
				copy(shmem.Ptr(x, pe.MyPE()), []int16{1, 2, 3})
				return first(
					equal("Local", x.Local(), []int16{1, 2, 3}),
					equal("Ptr of a part", shmem.Ptr(x.Slice(1, 3), pe.MyPE()), []int16{2, 3}),
				)
			},
		},
		{
			sec: "9.1.9", name: "ptr: what it reaches is the other PE's memory",
			faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				x := alloc[int64](pe, pe.NPEs())
				for i := range pe.NPEs() {
					v := int64(pe.MyPE()) + 1
					if p := shmem.Ptr(x, i); p != nil {
						p[pe.MyPE()] = v
					} else {
						shmem.PutValue(x.At(pe.MyPE()), v, i)
					}
				}
				pe.BarrierAll()
				return equal("from each PE", x.Local(), count(int64(1), pe.NPEs()))
			},
		},
		{
			sec: "9.1.9", name: "ptr: PEs of one node reach each other",
			on: onShm | onMixed, np: 2,
			run: func(pe *shmem.PE) error {
				x := alloc[byte](pe, 1)
				return all(pe.NPEs(), func(i int) error { return equal("nil", shmem.Ptr(x, i) == nil, false) })
			},
		},
		{
			sec: "9.1.9", name: "ptr: a store through it is ordered by a fence before a flag",
			faults: []fault{lostPuts, lostAtomics},
			run: func(pe *shmem.PE) error {
				x, flag := alloc[int64](pe, 2), alloc[uint64](pe, 1)
				if p := shmem.Ptr(x, right(pe)); p != nil {
					copy(p, []int64{3, 4})
				} else {
					shmem.Put(x, []int64{3, 4}, right(pe))
				}
				pe.Fence()
				shmem.AtomicSet(flag, 1, right(pe))
				shmem.WaitUntil(flag, shmem.CmpEQ, 1)
				return equal("data at the flag", x.Local(), []int64{3, 4})
			},
		},
		{
			sec: "9.1.11", name: "info_get_version: 1.6",
			run: func(pe *shmem.PE) error {
				info := pe.Info()
				return equal("version", [2]int{info.Major, info.Minor}, [2]int{1, 6})
			},
		},
		{
			sec: "9.1.12", name: "info_get_name: the library's, in fewer than 256 bytes",
			run: func(pe *shmem.PE) error {
				name := pe.Info().Name
				if !strings.Contains(name, "goshmem") || !strings.Contains(name, shmem.Version) || len(name) >= 256 {
					return broken("the library's name is %q", name)
				}
				return nil
			},
		},
		{
			sec: "9.1.13", name: "start_pes: Main initializes, and finalizes when the program returns",
			on: onProcesses,
			// The rest is the status of the job, which Main ends.
			run: func(*shmem.PE) error { return equal("initialized", shmem.Initialized(), true) },
		},
	}
}

func threadRows() []row {
	const routines = 4
	return []row{
		{
			sec: "9.2.1", name: "init_thread: every routine may be called by several goroutines at once",
			faults: []fault{lostPuts, lostGets, everyOtherAtomicLost},
			run: func(pe *shmem.PE) error {
				sum, data := alloc[int64](pe, 1), alloc[int32](pe, routines*8)
				err := together(routines, func(i int) error {
					part := data.Slice(i*8, (i+1)*8)
					for round := range 10 {
						want := count(int32(100*round+i), 8)
						shmem.Put(part, want, right(pe))
						pe.Quiet()
						got := make([]int32, 8)
						shmem.Get(got, part, right(pe))
						if err := equal("got back", got, want); err != nil {
							return err
						}
						shmem.AtomicInc(sum, 0)
						shmem.AtomicFetchInc(sum, 0)
					}
					return nil
				})
				if err != nil {
					return err
				}
				pe.BarrierAll()
				return equal("sum", shmem.GetValue(sum, 0), int64(pe.NPEs()*routines*20))
			},
		},
		{
			sec: "9.2.2", name: "query_thread: a wait blocks only the goroutine that waits",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[uint64](pe, routines)
				// Each goroutine waits for the one before, the first for the left neighbour.
				return together(routines+1, func(i int) error {
					if i == routines {
						shmem.AtomicSet(x.At(0), 1, right(pe))
						return nil
					}
					shmem.WaitUntil(x.At(i), shmem.CmpEQ, 1)
					if i+1 < routines {
						shmem.AtomicSet(x.At(i+1), 1, pe.MyPE())
					}
					return nil
				})
			},
		},
	}
}
