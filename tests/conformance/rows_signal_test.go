// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

func signalRows() []row {
	return []row{
		{
			sec: "9.8.1", name: "put_signal: whoever sees the signal sees the data",
			faults: []fault{signalFirst, lostPuts, lostSignals},
			run: func(pe *shmem.PE) error {
				return signalled(pe, func(x shmem.Sym[int64], src []int64, sig shmem.Sym[uint64], v uint64) {
					shmem.PutSignal(x, src, sig, v, shmem.SigSet, right(pe))
				})
			},
		},
		{
			sec: "9.8.1", name: "put_signal: every size and type",
			heap: 1 << 20, faults: []fault{signalFirst, lostPuts, lostSignals},
			run: func(pe *shmem.PE) error {
				x, y := alloc[byte](pe, slices.Max(sizes)), alloc[pair](pe, 1)
				sig := alloc[uint64](pe, 2) // one each: nothing orders the two puts
				for i, size := range sizes {
					shmem.PutSignal(x, pattern(i+pe.MyPE(), size), sig.At(0), 1, shmem.SigAdd, right(pe))
					shmem.PutSignal(y, []pair{{int64(i), [3]int8{int8(i)}}}, sig.At(1), 1, shmem.SigAdd, right(pe))
					shmem.SignalWaitUntil(sig.At(0), shmem.CmpEQ, uint64(i+1))
					if !slices.Equal(x.Local()[:size], pattern(i+left(pe), size)) {
						return broken("the signal came before all of %d bytes", size)
					}
					shmem.SignalWaitUntil(sig.At(1), shmem.CmpEQ, uint64(i+1))
					if err := equal("structure", y.Local()[0], pair{int64(i), [3]int8{int8(i)}}); err != nil {
						return err
					}
					pe.SyncAll() // all have read before the next put
				}
				return nil
			},
		},
		{
			sec: "9.8.1", name: "put_signal: adds to the signal, or sets it",
			faults: []fault{lostSignals},
			run: func(pe *shmem.PE) error {
				x, sig := alloc[int32](pe, 4*pe.NPEs()), alloc[uint64](pe, 2)
				for i := range pe.NPEs() {
					at := 4 * pe.MyPE()
					shmem.PutSignal(x.Slice(at, at+4), count(int32(at), 4), sig.At(0), uint64(1)<<pe.MyPE(), shmem.SigAdd, i)
				}
				shmem.PutSignal(x.Slice(0, 0), nil, sig.At(1), 1<<63+5, shmem.SigSet, right(pe))
				shmem.WaitUntil(sig.At(0), shmem.CmpEQ, uint64(1)<<pe.NPEs()-1)
				shmem.WaitUntil(sig.At(1), shmem.CmpEQ, 1<<63+5)
				return equal("data of all PEs", x.Local(), count(int32(0), 4*pe.NPEs()))
			},
		},
		{
			sec: "9.8.1", name: "put_signal: of no elements is a signal",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x, sig := alloc[float32](pe, 2), alloc[uint64](pe, 1)
				shmem.PutSignal(x, nil, sig, 3, shmem.SigSet, right(pe))
				shmem.SignalWaitUntil(sig, shmem.CmpEQ, 3)
				return equal("data", x.Local(), []float32{0, 0})
			},
		},
		{
			sec: "9.8.2", name: "put_signal_nbi: whoever sees the signal sees the data",
			faults: []fault{signalFirst, lostPuts, lostSignals},
			run: func(pe *shmem.PE) error {
				return signalled(pe, func(x shmem.Sym[int64], src []int64, sig shmem.Sym[uint64], v uint64) {
					shmem.PutSignalNBI(x, slices.Clone(src), sig, v, shmem.SigSet, right(pe))
				})
			},
		},
		{
			sec: "9.8.2", name: "put_signal_nbi: complete at quiet, data and signal",
			faults: []fault{quietIgnored, lostPuts, lostSignals},
			run: func(pe *shmem.PE) error {
				x, sig := alloc[uint16](pe, 9), alloc[uint64](pe, 1)
				src := count(uint16(1), 9)
				shmem.PutSignalNBI(x, src, sig, 4, shmem.SigAdd, right(pe))
				pe.Quiet()
				clear(src)
				got := make([]uint16, 9)
				shmem.Get(got, x, right(pe))
				return first(
					equal("signal", shmem.AtomicFetch(sig, right(pe)), uint64(4)),
					equal("data", got, count(uint16(1), 9)),
				)
			},
		},
		{
			sec: "9.8.3", name: "signal_add: every one counts, from all PEs at once",
			faults: []fault{lostAtomics, everyOtherAtomicLost},
			run: func(pe *shmem.PE) error {
				sig := alloc[uint64](pe, 1)
				const each = 10
				for range each {
					for i := range pe.NPEs() {
						shmem.SignalAdd(sig, 1<<32+1, i)
					}
				}
				want := uint64(each*pe.NPEs()) * (1<<32 + 1)
				shmem.SignalWaitUntil(sig, shmem.CmpGE, want)
				pe.BarrierAll()
				return equal("signal", shmem.SignalFetch(sig), want)
			},
		},
		{
			sec: "9.8.4", name: "signal_fetch: the own signal",
			faults: []fault{lostAtomics, lostFetches},
			run: func(pe *shmem.PE) error {
				sig := alloc[uint64](pe, 1)
				shmem.SignalSet(sig, uint64(pe.MyPE())<<40+1, right(pe))
				pe.BarrierAll()
				return equal("signal", shmem.SignalFetch(sig), uint64(left(pe))<<40+1)
			},
		},
		{
			sec: "9.8.4", name: "signal_fetch: never goes back while others raise the signal",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				sig := alloc[uint64](pe, 1)
				for i := range uint64(20) {
					shmem.SignalSet(sig, i+1, right(pe))
					pe.Fence()
				}
				last := uint64(0)
				for last < 20 {
					v := shmem.SignalFetch(sig)
					if v < last {
						return broken("went back from %d to %d", last, v)
					}
					last = v
				}
				return nil
			},
		},
		{
			sec: "9.8.5", name: "signal_set: ends both kinds of wait",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				sig := alloc[uint64](pe, 2)
				shmem.SignalSet(sig.At(0), 1<<40, right(pe))
				shmem.SignalSet(sig.At(1), 7, right(pe))
				shmem.WaitUntil(sig.At(0), shmem.CmpGT, 1<<39)
				return first(
					equal("satisfying value", shmem.SignalWaitUntil(sig.At(1), shmem.CmpNE, 0), uint64(7)),
					equal("signals", []uint64{shmem.SignalFetch(sig.At(0)), shmem.SignalFetch(sig.At(1))}, []uint64{1 << 40, 7}),
				)
			},
		},
		{
			sec: "9.8.5", name: "signal_set: the data put and fenced before it is there",
			without: func(pe *shmem.PE) error { return announced(pe, func() {}) },
			run:     func(pe *shmem.PE) error { return announced(pe, pe.Fence) },
			faults:  []fault{lostPuts, lostAtomics},
		},
	}
}

// signalled sends ten times data and signal to the right, and looks at what
// comes from the left. send may use src until Quiet.
func signalled(pe *shmem.PE, send func(x shmem.Sym[int64], src []int64, sig shmem.Sym[uint64], v uint64)) error {
	const n = 16
	x, sig := alloc[int64](pe, n), alloc[uint64](pe, 1)
	for i := range 10 {
		send(x, count(int64(100*i+pe.MyPE()), n), sig, uint64(i+1))
		shmem.SignalWaitUntil(sig, shmem.CmpGE, uint64(i+1))
		if err := equal("data at the signal", x.Local(), count(int64(100*i+left(pe)), n)); err != nil {
			return err
		}
		pe.SyncAll() // all have read before the next put
	}
	return nil
}

// announced puts data to the right, then fence, then a signal.
func announced(pe *shmem.PE, fence func()) error {
	x, sig := alloc[int64](pe, 32), alloc[uint64](pe, 1)
	shmem.Put(x, count(int64(1), 32), right(pe))
	fence()
	shmem.SignalSet(sig, 1, right(pe))
	shmem.SignalWaitUntil(sig, shmem.CmpEQ, 1)
	return equal("data", x.Local(), count(int64(1), 32))
}
