// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"github.com/goshmem/goshmem/shmem"
)

func fenceRows() []row {
	// Each kind of operation, then fence, then a flag.
	ordered := func(name string, f fault, before func(pe *shmem.PE, x shmem.Sym[int64], src []int64, sig shmem.Sym[uint64])) row {
		run := func(fence func(*shmem.PE)) func(*shmem.PE) error {
			return func(pe *shmem.PE) error {
				x, sig, flag := alloc[int64](pe, 8), alloc[uint64](pe, 1), alloc[uint64](pe, 1)
				src := count(int64(1), 8)
				before(pe, x, src, sig)
				fence(pe)
				shmem.AtomicSet(flag, 1, right(pe))
				shmem.WaitUntil(flag, shmem.CmpEQ, 1)
				err := equal("what the left neighbour did before its fence", x.Local(), count(int64(1), 8))
				pe.BarrierAll() // src may be read until then
				return err
			}
		}
		return row{
			sec: "9.12.1", name: "fence: orders " + name, faults: []fault{f},
			run:     run((*shmem.PE).Fence),
			without: run(func(*shmem.PE) {}),
		}
	}
	return []row{
		ordered("puts", lostPuts, func(pe *shmem.PE, x shmem.Sym[int64], src []int64, _ shmem.Sym[uint64]) {
			shmem.Put(x, src, right(pe))
		}),
		ordered("puts of a word", lostWords, func(pe *shmem.PE, x shmem.Sym[int64], src []int64, _ shmem.Sym[uint64]) {
			for i, v := range src {
				shmem.PutValue(x.At(i), v, right(pe))
			}
		}),
		ordered("strided puts", lostPuts, func(pe *shmem.PE, x shmem.Sym[int64], src []int64, _ shmem.Sym[uint64]) {
			shmem.PutStrided(x, src, 2, 2, 4, right(pe))
			shmem.PutStrided(x.Slice(1, 8), src[1:], 2, 2, 4, right(pe))
		}),
		ordered("non-blocking puts", lostPuts, func(pe *shmem.PE, x shmem.Sym[int64], src []int64, _ shmem.Sym[uint64]) {
			shmem.PutNBI(x, src, right(pe))
		}),
		ordered("atomics", lostAtomics, func(pe *shmem.PE, x shmem.Sym[int64], src []int64, _ shmem.Sym[uint64]) {
			for i, v := range src {
				shmem.AtomicAdd(x.At(i), v, right(pe))
			}
		}),
		ordered("the updates of non-blocking fetching atomics", lostFetches, func(pe *shmem.PE, x shmem.Sym[int64], src []int64, _ shmem.Sym[uint64]) {
			for i, v := range src {
				shmem.AtomicSwapNBI(new(int64), x.At(i), v, right(pe))
			}
		}),
		ordered("puts with a signal", lostPuts, func(pe *shmem.PE, x shmem.Sym[int64], src []int64, sig shmem.Sym[uint64]) {
			shmem.PutSignal(x, src, sig, 1, shmem.SigSet, right(pe))
		}),
		{
			sec: "9.12.1", name: "fence: orders for each PE, those to several PEs by one call",
			np: 2, faults: []fault{lostPuts, lostAtomics},
			run:     func(pe *shmem.PE) error { return toAll(pe, pe.Fence) },
			without: func(pe *shmem.PE) error { return toAll(pe, func() {}) },
		},
		{
			sec: "9.12.1", name: "fence: a row of them keeps a row of puts to one word in order",
			faults:  []fault{lostWords},
			run:     func(pe *shmem.PE) error { return last(pe, pe.Fence) },
			without: func(pe *shmem.PE) error { return last(pe, func() {}) },
		},
		{
			sec: "9.12.1", name: "fence: with nothing before it does nothing",
			run: func(pe *shmem.PE) error {
				pe.Fence()
				pe.Context().Fence()
				(*shmem.Context)(nil).Fence()
				pe.Fence()
				return nil
			},
		},
	}
}

// toAll puts data and a flag to every PE, with one fence between.
func toAll(pe *shmem.PE, fence func()) error {
	n := pe.NPEs()
	x, flags := alloc[int32](pe, 4*n), alloc[uint64](pe, n)
	mine := x.Slice(4*pe.MyPE(), 4*pe.MyPE()+4)
	for i := range n {
		shmem.Put(mine, count(int32(1), 4), i)
	}
	fence()
	for i := range n {
		shmem.SignalSet(flags.At(pe.MyPE()), 1, i)
	}
	return all(n, func(i int) error {
		shmem.WaitUntil(flags.At(i), shmem.CmpEQ, 1)
		return equal("data of that PE at its flag", x.Local()[4*i:4*i+4], count(int32(1), 4))
	})
}

// last writes one word many times.
func last(pe *shmem.PE, fence func()) error {
	x := alloc[uint16](pe, 1)
	for i := range uint16(10) {
		shmem.PutValue(x, i+1, right(pe))
		fence()
	}
	pe.BarrierAll()
	return equal("word", x.Local()[0], uint16(10))
}

func quietRows() []row {
	return []row{
		{
			sec: "9.12.2", name: "quiet: puts and atomics are complete, the PE itself can get them",
			faults:  []fault{quietIgnored, lostPuts, lostWords, lostAtomics},
			run:     func(pe *shmem.PE) error { return readBack(pe, pe.Quiet) },
			without: func(pe *shmem.PE) error { return readBack(pe, func() {}) },
		},
		{
			sec: "9.12.2", name: "quiet: visible to a third PE, which is told by a flag elsewhere",
			np: 3, faults: []fault{quietIgnored, lostPuts, lostGets},
			run:     func(pe *shmem.PE) error { return thirdPE(pe, pe.Quiet) },
			without: func(pe *shmem.PE) error { return thirdPE(pe, func() {}) },
		},
		{
			sec: "9.12.2", name: "quiet: a fence is none, it orders to one PE only",
			np:      3,
			run:     func(pe *shmem.PE) error { return thirdPE(pe, pe.Quiet) },
			without: func(pe *shmem.PE) error { return thirdPE(pe, pe.Fence) },
		},
		{
			sec: "9.12.2", name: "quiet: with nothing before it does nothing",
			run: func(pe *shmem.PE) error {
				pe.Quiet()
				pe.Context().Quiet()
				(*shmem.Context)(nil).Quiet()
				pe.Quiet()
				return nil
			},
		},
		{
			sec: "9.12.2", name: "quiet: covers what was issued on objects' own context too",
			faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int8](pe, 4)
				shmem.Put(x.On(x.Context()), []int8{1, 2, 3, 4}, right(pe))
				x.Context().Quiet()
				got := make([]int8, 4)
				shmem.Get(got, x, right(pe))
				return equal("got", got, []int8{1, 2, 3, 4})
			},
		},
	}
}

// readBack puts, and gets it back after quiet.
func readBack(pe *shmem.PE, quiet func()) error {
	x := alloc[int32](pe, 6)
	shmem.Put(x.Slice(0, 4), count(int32(1), 4), right(pe))
	shmem.PutValue(x.At(4), 5, right(pe))
	shmem.AtomicAdd(x.At(5), 6, right(pe))
	quiet()
	got := make([]int32, 6)
	shmem.Get(got, x, right(pe))
	return equal("got back", got, count(int32(1), 6))
}

// thirdPE has PE 0 put to PE 1 and then tell PE 2, which gets from PE 1.
func thirdPE(pe *shmem.PE, quiet func()) error {
	x, flag := alloc[int64](pe, 10), alloc[uint64](pe, 1)
	switch pe.MyPE() {
	case 0:
		shmem.Put(x, count(int64(1), 10), 1)
		quiet()
		shmem.AtomicSet(flag, 1, 2)
	case 2:
		shmem.WaitUntil(flag, shmem.CmpEQ, 1)
		got := make([]int64, 10)
		shmem.Get(got, x, 1)
		return equal("got from PE 1", got, count(int64(1), 10))
	}
	return nil
}

func orderingRows() []row {
	return []row{
		{
			sec: "9.12.4", name: "ordering: passed on from PE to PE by quiet, flag and wait",
			np: 2, faults: []fault{quietIgnored, lostPuts, lostAtomics},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				x, flag := alloc[int](pe, n), alloc[uint64](pe, 1)
				// Each PE adds its element on PE 0 and hands on; the last one looks at all.
				if pe.MyPE() > 0 {
					shmem.WaitUntil(flag, shmem.CmpEQ, 1)
				}
				shmem.Put(x.At(pe.MyPE()), []int{pe.MyPE() + 1}, 0)
				pe.Quiet()
				if pe.MyPE() < n-1 {
					shmem.AtomicSet(flag, 1, pe.MyPE()+1)
					return nil
				}
				got := make([]int, n)
				shmem.Get(got, x, 0)
				return equal("got from PE 0", got, count(1, n))
			},
		},
		{
			sec: "9.12.4", name: "ordering: own stores are visible to who is told by a flag",
			np: 2, faults: []fault{lostGets, lostAtomics},
			run: func(pe *shmem.PE) error {
				x, flag := alloc[float64](pe, 5), alloc[uint64](pe, 1)
				copy(x.Local(), count(float64(pe.MyPE()), 5))
				pe.Fence()
				shmem.AtomicSet(flag, 1, right(pe))
				shmem.WaitUntil(flag, shmem.CmpEQ, 1)
				got := make([]float64, 5)
				shmem.Get(got, x, left(pe))
				return equal("got from the left neighbour", got, count(float64(left(pe)), 5))
			},
		},
		{
			sec: "9.12.4", name: "ordering: a fetching atomic that finds a value finds what was fenced before it",
			np: 2, faults: []fault{lostPuts, lostAtomics},
			run:     func(pe *shmem.PE) error { return fetched(pe, pe.Fence) },
			without: func(pe *shmem.PE) error { return fetched(pe, func() {}) },
		},
		{
			sec: "9.12.4", name: "ordering: gets and fetching atomics are complete when they return",
			faults: []fault{lostGets, lostFetches},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 2)
				copy(x.Local(), []int32{int32(pe.MyPE()) + 1, 10})
				pe.BarrierAll()
				v := shmem.GetValue(x.At(0), right(pe))
				old := shmem.AtomicFetchAdd(x.At(1), v, right(pe))
				again := shmem.AtomicFetch(x.At(1), right(pe))
				return equal("values", []int32{v, old, again}, []int32{int32(right(pe)) + 1, 10, 11 + int32(right(pe))})
			},
		},
	}
}

// fetched has every PE poll the own flag by an atomic.
func fetched(pe *shmem.PE, fence func()) error {
	x, flag := alloc[int16](pe, 30), alloc[int32](pe, 1)
	shmem.Put(x, count(int16(1), 30), right(pe))
	fence()
	shmem.AtomicInc(flag, right(pe))
	for shmem.AtomicFetchAdd(flag, 0, pe.MyPE()) == 0 {
		continue
	}
	return equal("data", x.Local(), count(int16(1), 30))
}
