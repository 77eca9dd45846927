// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

// A sorter is one PE's part of the sort. Keys are below NPEs·width, and PE p
// comes to hold those from p·width on.
type sorter struct {
	pe       *shmem.PE
	width    int
	keys     []int32          // as they are drawn
	reserved shmem.Sym[int64] // places of received that are taken
	received shmem.Sym[int32] // this PE's keys, from all PEs
	sorted   []int32
}

// newSorter draws the keys. It is collective.
func newSorter(pe *shmem.PE, keys int) (*sorter, error) {
	s := &sorter{pe: pe, width: keys, keys: make([]int32, keys)}
	r := rand.New(rand.NewPCG(161803398, uint64(pe.MyPE())))
	for i := range s.keys {
		s.keys[i] = r.Int32N(int32(pe.NPEs() * s.width))
	}
	// The keys of a PE are close to binomially distributed, with a deviation of
	// less than the square root of keys. That is 1 for one key, so there is a
	// constant, too.
	room := min(keys+keys/4+256, keys*pe.NPEs())
	var err error
	if s.reserved, err = shmem.Alloc[int64](pe, 1); err != nil {
		return nil, err
	}
	s.received, err = shmem.Alloc[int32](pe, room)
	return s, err
}

// exchange sends each key to the PE that holds its part of the range.
func (s *sorter) exchange() (err error) {
	me, npes := s.pe.MyPE(), s.pe.NPEs()
	buckets := s.buckets()
	for i := 1; i <= npes; i++ {
		target := (me + i) % npes // all PEs start with different ones
		n := len(buckets[target])
		at := int(shmem.AtomicFetchAdd(s.reserved, int64(n), target))
		if at+n > s.received.Len() {
			err = fmt.Errorf("%d keys fall to PE %d, which has room for %d", at+n, target, s.received.Len())
			continue
		}
		shmem.Put(s.received.Slice(at, at+n), buckets[target], target)
	}
	s.pe.BarrierAll() // all keys have arrived
	return err
}

// buckets returns the keys for each PE.
func (s *sorter) buckets() [][]int32 {
	counts := make([]int, s.pe.NPEs())
	for _, key := range s.keys {
		counts[int(key)/s.width]++
	}
	buckets, first, all := make([][]int32, len(counts)), 0, make([]int32, len(s.keys))
	for p, n := range counts {
		buckets[p] = all[first : first : first+n]
		first += n
	}
	for _, key := range s.keys {
		p := int(key) / s.width
		buckets[p] = append(buckets[p], key)
	}
	return buckets
}

// mine returns the keys that have arrived.
func (s *sorter) mine() []int32 {
	return s.received.Local()[:min(int(s.reserved.Local()[0]), s.received.Len())]
}

// sort sorts what has arrived, by counting how often each key has.
func (s *sorter) sort() {
	counts, least := make([]int32, s.width), s.pe.MyPE()*s.width
	for _, key := range s.mine() {
		if i := int(key) - least; 0 <= i && i < s.width { // check finds those that are missing
			counts[i]++
		}
	}
	s.sorted = make([]int32, 0, len(s.mine()))
	for i, n := range counts {
		for range n {
			s.sorted = append(s.sorted, int32(least+i))
		}
	}
}

// check returns how many keys are missing or in the wrong order, plus 1 on PE 0
// if all PEs' keys together are not those that were drawn. It is collective.
func (s *sorter) check() (wrong int, err error) {
	wrong = len(s.mine()) - len(s.sorted)
	for i := 1; i < len(s.sorted); i++ {
		if s.sorted[i-1] > s.sorted[i] {
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
