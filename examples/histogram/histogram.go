// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math/rand/v2"

	"github.com/goshmem/goshmem/shmem"
)

// A histogram's counters are dealt to the PEs one by one: number v is counted
// by PE v mod NPEs, in its counter v / NPEs.
type histogram struct {
	pe       *shmem.PE
	counters int              // over all PEs
	numbers  []int32          // this PE's, to be counted
	counts   shmem.Sym[int64] // this PE's counters
	rows     shmem.Sym[int64] // what each PE has counted for this one
	private  []int64          // what this PE has counted, for each PE
}

// newHistogram is collective.
func newHistogram(pe *shmem.PE, numbers, counters int) (*histogram, error) {
	room := (counters + pe.NPEs() - 1) / pe.NPEs()
	h := &histogram{pe: pe, counters: counters, numbers: make([]int32, numbers), private: make([]int64, room*pe.NPEs())}
	for i, v := 0, stream(pe.MyPE(), counters); i < numbers; i++ {
		h.numbers[i] = v()
	}
	var err error
	if h.counts, err = shmem.Alloc[int64](pe, room); err != nil {
		return nil, err
	}
	h.rows, err = shmem.Alloc[int64](pe, room*pe.NPEs())
	return h, err
}

// stream returns the source of PE source's numbers, which are below counters.
func stream(source, counters int) func() int32 {
	r := rand.New(rand.NewPCG(271828183, uint64(source)))
	return func() int32 { return r.Int32N(int32(counters)) }
}

func (h *histogram) clear() { clear(h.counts.Local()) }

// atomics counts each number where it belongs.
func (h *histogram) atomics() {
	npes := int32(h.pe.NPEs())
	for _, v := range h.numbers {
		shmem.AtomicInc(h.counts.At(int(v/npes)), int(v%npes))
	}
}

// batched is atomics, allowed to hold some back until there are more for the
// same PE. The barrier that follows waits for them, as for all others.
func (h *histogram) batched() {
	ctx := h.pe.Context()
	ctx.StartSession(shmem.SessionConfig{Batch: true, TotalOps: len(h.numbers)})
	defer ctx.StopSession()
	h.atomics()
}

// puts counts in memory of the PE's own, and then puts one row of counts to each
// owner. Rows of different PEs are different memory, so nothing here is atomic.
func (h *histogram) puts() {
	npes, me, room := h.pe.NPEs(), h.pe.MyPE(), h.counts.Len()
	clear(h.private)
	for _, v := range h.numbers {
		h.private[int(v)%npes*room+int(v)/npes]++
	}
	for i := 1; i <= npes; i++ {
		owner := (me + i) % npes // all PEs start with different ones
		shmem.Put(h.rows.Slice(me*room, (me+1)*room), h.private[owner*room:(owner+1)*room], owner)
	}
	h.pe.BarrierAll() // all rows are there
	counts, rows := h.counts.Local(), h.rows.Local()
	for source := range npes {
		for i, n := range rows[source*room : (source+1)*room] {
			counts[i] += n
		}
	}
}

// check counts the numbers of all PEs again, without communication, and returns
// how many of this PE's counters are wrong.
func (h *histogram) check() (wrong int) {
	npes, me := h.pe.NPEs(), h.pe.MyPE()
	want := make([]int64, h.counts.Len())
	for source := range npes {
		v := stream(source, h.counters)
		for range h.numbers {
			if n := int(v()); n%npes == me {
				want[n/npes]++
			}
		}
	}
	for i, n := range h.counts.Local() {
		if n != want[i] {
			wrong++
		}
	}
	return wrong
}
