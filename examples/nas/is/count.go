// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

// A counter ranks keys without moving one: each PE counts its own keys of every value,
// and is given the sums over all PEs for an interval of values, which is its bucket.
type counter struct {
	own  shmem.Sym[uint32] // this PE's keys of each value
	sums shmem.Sym[uint32] // all PEs' keys of each value of this PE's interval
}

// newCounter is collective over all PEs. Keys are less than values.
func newCounter(pe *shmem.PE, values int) (*counter, error) {
	interval := (values + pe.NPEs() - 1) / pe.NPEs()
	own, err := shmem.Alloc[uint32](pe, interval*pe.NPEs())
	if err != nil {
		return nil, err
	}
	sums, err := shmem.Alloc[uint32](pe, interval)
	return &counter{own, sums}, err
}

// count ranks all keys and returns those at the test positions.
func (r *ranker) count() (tests [partialTests]int) {
	c, me := r.counter, r.pe.MyPE()
	own := c.own.Local()
	clear(own)
	for _, key := range r.keys {
		own[key]++
	}
	r.timers.Lap(timeBuckets)

	shmem.SumReduceScatter(r.pe.World(), c.sums, c.own)
	r.ranks = c.sums.Local()
	r.least = me * len(r.ranks)
	var sum uint32
	for i, n := range r.ranks {
		sum += n
		r.ranks[i] = sum
	}

	tests = r.exchange([]uint32{sum})
	r.ranked, r.lower = int(sum), 0
	for pe := range me {
		r.lower += int64(r.row(pe)[0])
	}
	r.timers.Lap(timeCounts)
	return tests
}
