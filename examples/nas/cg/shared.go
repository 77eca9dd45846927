// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

// shared is a vector of which each PE has a part and reads the others', near PEs'
// in place. To far ones it sends its own: they would have to ask for it, and it
// to answer them when it may be computing again.
//
// A PE calls send, each, and send again, and all PEs meet between each of these
// calls and the next: so nobody reads a part before it is there, or while it
// changes. What is sent is waited for besides, since it may be on its way.
type shared struct {
	pe     *shmem.PE
	bounds []int              // PE p has elements bounds[p] up to bounds[p+1]
	own    shmem.Sym[float64] // this PE's part, for near PEs to read

	copies  shmem.Sym[float64] // whole; far PEs have put their parts there
	arrived shmem.Sym[uint64]  // of each PE: how often it has
	sent    uint64             // how often this one has
}

// newShared is collective over all PEs, which have equal shares of n elements.
func newShared(pe *shmem.PE, n int) (*shared, error) {
	s := &shared{pe: pe, bounds: make([]int, pe.NPEs()+1)}
	for i := range pe.NPEs() {
		_, s.bounds[i+1] = yard.Share(n, i, pe.NPEs())
	}
	var err error
	room := s.bounds[1] // PE 0 has no fewer elements than any other
	if s.own, err = shmem.Alloc[float64](pe, room); err != nil {
		return nil, err
	}
	if s.copies, err = shmem.Alloc[float64](pe, n); err != nil {
		return nil, err
	}
	s.arrived, err = shmem.Alloc[uint64](pe, pe.NPEs())
	return s, err
}

// part returns the bounds of a PE's part.
func (s *shared) part(pe int) (first, end int) { return s.bounds[pe], s.bounds[pe+1] }

// local returns this PE's part.
func (s *shared) local() []float64 {
	first, end := s.part(s.pe.MyPE())
	return s.own.Local()[:end-first]
}

// send sends this PE's part, which stays as it is until each has returned.
func (s *shared) send() {
	s.sent++
	me, npes := s.pe.MyPE(), s.pe.NPEs()
	first, end := s.part(me)
	for i := 1; i < npes; i++ {
		target := (me + i) % npes // not all send to the same one at once
		if shmem.Ptr(s.own, target) == nil {
			shmem.PutSignalNBI(s.copies.Slice(first, end), s.local(), s.arrived.At(me), s.sent, shmem.SigSet, target)
		}
	}
}

// each calls f with every PE's part and the number of its first element.
func (s *shared) each(f func(part []float64, first int)) {
	far := false
	for target := range s.pe.NPEs() {
		first, end := s.part(target)
		part := shmem.Ptr(s.own, target)
		if part == nil {
			far = true
			shmem.SignalWaitUntil(s.arrived.At(target), shmem.CmpEQ, s.sent)
			part = s.copies.Local()[first:]
		}
		f(part[:end-first], first)
	}
	if far {
		s.pe.Quiet()
	}
}
