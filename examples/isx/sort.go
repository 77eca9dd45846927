// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

// A sorter is one PE's part of the sort. Keys are below NPEs<<bits, and PE p
// comes to hold those from p<<bits on.
type sorter struct {
	pe       *shmem.PE
	bits     uint
	keys     []int32          // as they are drawn
	buckets  []int32          // keys, those for each PE together
	reserved shmem.Sym[int64] // places of received that are taken
	received shmem.Sym[int32] // this PE's keys, from all PEs
	spare    []int32          // as long as received
	sorted   []int32          // in received or spare
}

// newSorter draws 1<<bits keys. It is collective.
func newSorter(pe *shmem.PE, bits uint) (*sorter, error) {
	keys := 1 << bits
	s := &sorter{pe: pe, bits: bits, keys: make([]int32, keys), buckets: make([]int32, keys)}
	r := rand.New(rand.NewPCG(161803398, uint64(pe.MyPE())))
	for i := range s.keys {
		s.keys[i] = r.Int32N(int32(pe.NPEs() << bits))
	}
	// The keys of a PE are close to binomially distributed, with a deviation of
	// less than the square root of keys. That is 1 for one key, so there is a
	// constant, too.
	room := min(keys+keys/4+256, keys*pe.NPEs())
	s.spare = make([]int32, room)
	var err error
	if s.reserved, err = shmem.Alloc[int64](pe, 1); err != nil {
		return nil, err
	}
	s.received, err = shmem.Alloc[int32](pe, room)
	return s, err
}

// reset makes s ready for another sort. No PE may begin it before all have done so.
func (s *sorter) reset() { s.reserved.Local()[0] = 0 }

// exchange sends each key to the PE that holds its part of the range.
func (s *sorter) exchange() (err error) {
	me, npes := s.pe.MyPE(), s.pe.NPEs()
	ends := s.fillBuckets()
	for i := 1; i <= npes; i++ {
		target := (me + i) % npes // all PEs start with different ones
		start := 0
		if target > 0 {
			start = ends[target-1]
		}
		bucket := s.buckets[start:ends[target]]
		at := int(shmem.AtomicFetchAdd(s.reserved, int64(len(bucket)), target))
		end := at + len(bucket)
		if end > s.received.Len() {
			err = fmt.Errorf("%d keys fall to PE %d, which has room for %d", end, target, s.received.Len())
			continue
		}
		shmem.Put(s.received.Slice(at, end), bucket, target)
	}
	s.pe.BarrierAll() // all keys have arrived
	return err
}

// fillBuckets puts the keys for each PE together, and returns where they end.
func (s *sorter) fillBuckets() (ends []int) {
	next := make([]int, s.pe.NPEs())
	for _, key := range s.keys {
		next[key>>(s.bits&31)]++
	}
	starts(next)
	for _, key := range s.keys {
		p := key >> (s.bits & 31)
		i := next[p]
		s.buckets[i] = key
		next[p] = i + 1
	}
	return next
}

// starts replaces counts of things by where each kind of them starts, one
// behind the other.
func starts(counts []int) {
	at := 0
	for i, n := range counts {
		counts[i] = at
		at += n
	}
}

// mine returns the keys that have arrived.
func (s *sorter) mine() []int32 {
	return s.received.Local()[:min(int(s.reserved.Local()[0]), s.received.Len())]
}

// sort sorts what has arrived, by one digit after the other, the least
// significant first. A digit's 256 places fit in the fastest cache, however
// many keys there are; places for all keys would be in none.
func (s *sorter) sort() {
	least := int32(s.pe.MyPE() << s.bits)
	from, to := s.mine(), s.spare[:len(s.mine())]
	for shift := uint(0); shift < s.bits; shift += digitBits {
		sortByDigit(to, from, least, shift)
		from, to = to, from
	}
	s.sorted = from
}

const digitBits = 8

// sortByDigit copies keys to sorted in the order of one of their digits, and
// keeps that of keys with the same digit. Digits are those of a key less least.
func sortByDigit(sorted, keys []int32, least int32, shift uint) {
	var next [1 << digitBits]int
	for _, key := range keys {
		next[uint8((key-least)>>(shift&31))]++
	}
	starts(next[:])
	for _, key := range keys {
		digit := uint8((key - least) >> (shift & 31))
		i := next[digit]
		sorted[i] = key
		next[digit] = i + 1
	}
}

// check returns how many keys are another PE's or in the wrong order, plus 1 on
// PE 0 if all PEs' keys together are not those that were drawn. It is collective.
func (s *sorter) check() (wrong int, err error) {
	me := int32(s.pe.MyPE())
	for i, key := range s.sorted {
		if key>>s.bits != me || i > 0 && s.sorted[i-1] > key {
			wrong++
		}
	}
	lost, err := yard.Sum(s.pe, fingerprint(s.keys)-fingerprint(s.sorted))
	if err != nil {
		return 0, err
	}
	if s.pe.MyPE() == 0 && lost != 0 {
		wrong++
	}
	return wrong, nil
}

// fingerprint returns the sum of a hash of each key: it does not depend on their
// order, and sums of parts add up to that of the whole, with wrap-around.
func fingerprint(keys []int32) (sum uint64) {
	for _, key := range keys {
		h := (uint64(key) + 1) * 0x9E3779B97F4A7C15
		sum += h ^ h>>29
	}
	return sum
}
