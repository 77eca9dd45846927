// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"github.com/goshmem/goshmem/shmem"
)

func waitRows() []row {
	return []row{
		{
			sec: "9.11.1", name: "wait_until: every comparison, with every integer type",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return first(
					compared[int8](pe, -1), compared[int16](pe, -1), compared[int32](pe, -1), compared[int64](pe, -1), compared[int](pe, -1),
					compared[uint8](pe, 255), compared[uint16](pe, 65535), compared[uint32](pe, 1<<32-1),
					compared[uint64](pe, 1<<64-1), compared[uint](pe, 1<<63), compared[uintptr](pe, 1<<63),
				)
			},
		},
		{
			sec: "9.11.1", name: "wait_until: only the word's own bytes count",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return first(ownBytes[uint8](pe), ownBytes[int16](pe), ownBytes[int32](pe))
			},
		},
		{
			sec: "9.11.1", name: "wait_until: ended by a put too, of one word or several",
			faults: []fault{lostWords, lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 8)
				shmem.PutValue(x.At(0), 1, right(pe))
				shmem.WaitUntil(x.At(0), shmem.CmpEQ, 1)
				shmem.Put(x.Slice(2, 8), count(int32(2), 6), right(pe))
				pe.Quiet()
				for i := 2; i < 8; i++ {
					shmem.WaitUntil(x.At(i), shmem.CmpEQ, int32(i))
				}
				return nil
			},
		},
		{
			sec: "9.11.1", name: "wait_until: what was ordered before the update is visible",
			np: 2, faults: []fault{lostWords, lostPuts},
			run:     func(pe *shmem.PE) error { return pingPong(pe, pe.Fence) },
			without: func(pe *shmem.PE) error { return pingPong(pe, func() {}) },
		},
		{
			sec: "9.11.1", name: "wait_until: returns at once if the word satisfies",
			run: func(pe *shmem.PE) error {
				x := alloc[int16](pe, 1)
				shmem.WaitUntil(x, shmem.CmpEQ, 0)
				shmem.WaitUntil(x, shmem.CmpGT, -1)
				x.Local()[0] = -5
				shmem.WaitUntil(x, shmem.CmpLT, -4)
				return nil
			},
		},
	}
}

// compared waits for a word that steps through 1, low and 2 by each comparison that
// the step makes true. low is -1, or the largest value of an unsigned type.
func compared[T shmem.Integer](pe *shmem.PE, low T) error {
	x := alloc[T](pe, 1)
	signed := low < 0
	step := func(v T) { shmem.AtomicSet(x, v, right(pe)) }
	step(1) // from 0
	shmem.WaitUntil(x, shmem.CmpNE, 0)
	shmem.WaitUntil(x, shmem.CmpEQ, 1)
	shmem.WaitUntil(x, shmem.CmpGT, 0)
	shmem.WaitUntil(x, shmem.CmpGE, 1)
	shmem.WaitUntil(x, shmem.CmpLT, 2)
	shmem.WaitUntil(x, shmem.CmpLE, 1)
	pe.SyncAll() // all have seen it
	step(low)
	if signed {
		shmem.WaitUntil(x, shmem.CmpLT, 0)
		shmem.WaitUntil(x, shmem.CmpLE, 0)
	} else {
		shmem.WaitUntil(x, shmem.CmpGT, 1)
		shmem.WaitUntil(x, shmem.CmpGE, 2)
	}
	shmem.WaitUntil(x, shmem.CmpEQ, low)
	pe.SyncAll()
	step(2)
	shmem.WaitUntil(x, shmem.CmpNE, low)
	return equal("word", shmem.AtomicFetch(x, pe.MyPE()), 2)
}

// ownBytes waits for a small word among others that are all ones.
func ownBytes[T shmem.Integer](pe *shmem.PE) error {
	x := alloc[T](pe, 9)
	for i := range x.Local() {
		x.Local()[i]--
	}
	pe.SyncAll()
	for i := range x.Len() {
		shmem.AtomicSet(x.At(i), 5, right(pe))
		shmem.WaitUntil(x.At(i), shmem.CmpEQ, 5)
	}
	return nil
}

// pingPong sends data and a flag back and forth between PEs 0 and 1.
func pingPong(pe *shmem.PE, fence func()) error {
	x, flag := alloc[int64](pe, 20), alloc[int32](pe, 1)
	if pe.MyPE() > 1 {
		return nil
	}
	other := 1 - pe.MyPE()
	for i := range int32(10) {
		if int(i)%2 == pe.MyPE() {
			shmem.Put(x, count(int64(100*i), 20), other)
			fence()
			shmem.PutValue(flag, i+1, other)
			continue
		}
		shmem.WaitUntil(flag, shmem.CmpEQ, i+1)
		if err := equal("data at the flag", x.Local(), count(int64(100*i), 20)); err != nil {
			return err
		}
	}
	return nil
}

func testRows() []row {
	return []row{
		{
			sec: "9.11.8", name: "test: false before, true after, and never waits",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 1)
				if err := equal("before", []bool{shmem.Test(x, shmem.CmpNE, 0), shmem.Test(x, shmem.CmpEQ, 0)}, []bool{false, true}); err != nil {
					return err
				}
				pe.SyncAll()
				shmem.AtomicSet(x, -7, right(pe))
				pe.BarrierAll()
				return equal("after", []bool{
					shmem.Test(x, shmem.CmpEQ, -7), shmem.Test(x, shmem.CmpLT, 0), shmem.Test(x, shmem.CmpGE, -6),
				}, []bool{true, true, false})
			},
		},
		{
			sec: "9.11.8", name: "test: a PE that polls sees data that was ordered before the flag",
			faults: []fault{lostWords, lostPuts},
			run:    func(pe *shmem.PE) error { return polled(pe, pe.Fence) },
			without: func(pe *shmem.PE) error {
				return polled(pe, func() {})
			},
		},
		{
			sec: "9.11.15", name: "signal_wait_until: returns the value that satisfied",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				sig := alloc[uint64](pe, 1)
				for i := range uint64(5) {
					shmem.SignalAdd(sig, 3, right(pe))
					if got := shmem.SignalWaitUntil(sig, shmem.CmpGT, 3*i); got <= 3*i || got%3 != 0 {
						return broken("round %d: returned %d", i, got)
					}
				}
				return equal("last", shmem.SignalWaitUntil(sig, shmem.CmpEQ, 15), uint64(15))
			},
		},
		{
			sec: "9.11.15", name: "signal_wait_until: compares as unsigned",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				sig := alloc[uint64](pe, 1)
				shmem.SignalSet(sig, 1<<63, right(pe))
				return equal("value", shmem.SignalWaitUntil(sig, shmem.CmpGT, 5), uint64(1<<63))
			},
		},
	}
}

// polled puts data and a flag to the right and polls for the left's.
func polled(pe *shmem.PE, fence func()) error {
	x, flag := alloc[uint16](pe, 40), alloc[uint8](pe, 1)
	shmem.Put(x, count(uint16(1), 40), right(pe))
	fence()
	shmem.PutValue(flag, 1, right(pe))
	for !shmem.Test(flag, shmem.CmpEQ, 1) {
		continue
	}
	return equal("data at the flag", x.Local(), count(uint16(1), 40))
}
