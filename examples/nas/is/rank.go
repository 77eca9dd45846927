// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

// The sections that -timers reports.
const (
	timeBuckets = iota
	timeCounts
	timeKeys
	timeRanks
)

var sections = []string{"Buckets", "Counts", "Keys", "Ranks"}

// A ranker ranks the keys of all PEs, again and again. Each PE holds a part of
// the array of keys, and comes to hold all keys of some buckets, which it ranks.
type ranker struct {
	problem
	pe     *shmem.PE
	timers *nas.Timers

	first  int     // position of keys[0] in the whole array
	keys   []int32 // this PE's part of the array
	sorted []int32 // the same, in the order of buckets

	mine     shmem.Sym[uint32] // what this PE tells in exchange
	all      shmem.Sym[uint32] // the same of every PE, one after the other
	received shmem.Sym[int32]  // the keys of this PE's buckets, from every PE, one after the other
	counter  *counter          // in place of buckets, or nil

	// What the last ranking came to.
	bounds []int    // PE p ranks the buckets from bounds[p] up to bounds[p+1]
	ranked int      // keys in this PE's buckets
	lower  int64    // keys in the buckets of lower PEs
	least  int      // the least key that belongs in this PE's buckets
	ranks  []uint32 // ranks[i]: how many of this PE's are at most least+i
}

// newRanker is collective over all PEs. counts says that keys are only counted.
func newRanker(pe *shmem.PE, p problem, timers *nas.Timers, counts bool) (*ranker, error) {
	first, end := yard.Share(p.size(), pe.MyPE(), pe.NPEs())
	r := &ranker{
		problem: p, pe: pe, timers: timers,
		first: first, keys: p.generate(first, end),
	}
	row := p.buckets() + partialTests
	if counts {
		row = 1 + partialTests
	}
	var err error
	if r.mine, err = shmem.Alloc[uint32](pe, row); err != nil {
		return nil, err
	}
	if r.all, err = shmem.Alloc[uint32](pe, row*pe.NPEs()); err != nil {
		return nil, err
	}
	if counts {
		r.counter, err = newCounter(pe, 1<<p.logRange)
		return r, err
	}
	r.sorted, r.bounds = make([]int32, end-first), make([]int, pe.NPEs()+1)
	// A share may exceed the even one by one bucket. Sums of four even numbers
	// are nowhere denser than 8/3 of the mean, so room for four mean buckets is ample.
	room := min(p.size(), p.size()/pe.NPEs()+4*p.size()/p.buckets())
	if r.received, err = shmem.Alloc[int32](pe, room); err != nil {
		return nil, err
	}
	return r, nil
}

// rank ranks all keys after it has changed two of them, as iteration asks for,
// and returns how many of the ranks that are known for the iteration it could
// confirm; over all PEs, these must add up to partialTests.
func (r *ranker) rank(iteration int) (confirmed int, err error) {
	r.change(iteration)
	if r.counter != nil {
		return r.confirm(iteration, r.count()), nil
	}
	counts := countBuckets(r.keys, r.bucketShift())
	scatter(r.sorted, r.keys, counts, r.bucketShift())
	r.timers.Lap(timeBuckets)

	tests := r.exchange(counts[:r.buckets()])
	r.timers.Lap(timeCounts)

	if err := r.divide(); err != nil {
		return 0, err
	}
	r.send()
	r.pe.BarrierAll() // all keys have arrived, and nobody reads the counts any more
	r.timers.Lap(timeKeys)

	accumulate(r.ranks, r.received.Local()[:r.ranked], r.least)
	return r.confirm(iteration, tests), nil
}

// confirm returns how many of the ranks of the test keys are known here, and right.
func (r *ranker) confirm(iteration int, tests [partialTests]int) (confirmed int) {
	for i, key := range tests {
		if rank, ok := r.rankOf(key); ok && rank == r.testRank(i, min(iteration, classIterations)) {
			confirmed++
		}
	}
	r.timers.Lap(timeRanks)
	return confirmed
}

// change sets the two keys that an iteration changes. Later iterations than the
// class has change the same keys again, to what they are.
func (r *ranker) change(iteration int) {
	i := (iteration-1)%classIterations + 1
	r.set(i, int32(i))
	r.set(i+classIterations, int32(1<<r.logRange-i))
}

// set sets the key at a position of the whole array, if it is one of this PE's.
func (r *ranker) set(position int, key int32) {
	if i := position - r.first; 0 <= i && i < len(r.keys) {
		r.keys[i] = key
	}
}

// exchange tells every PE these counts, and then the keys at the test positions that this PE
// has. It returns all of these: all PEs but one say zero.
func (r *ranker) exchange(counts []uint32) (tests [partialTests]int) {
	mine := r.mine.Local()
	copy(mine, counts)
	for i, position := range r.testPositions {
		mine[len(counts)+i] = 0
		if j := position - r.first; 0 <= j && j < len(r.keys) {
			mine[len(counts)+i] = uint32(r.keys[j])
		}
	}
	shmem.FCollect(r.pe.World(), r.all, r.mine)
	for pe := range r.pe.NPEs() {
		for i, key := range r.row(pe)[len(counts):] {
			tests[i] += int(key)
		}
	}
	return tests
}

// row returns what PE pe told in exchange.
func (r *ranker) row(pe int) []uint32 {
	n := r.mine.Len()
	return r.all.Local()[pe*n : (pe+1)*n]
}

// from returns the number of keys that PE source sends to target.
func (r *ranker) from(source, target int) int {
	n := 0
	for _, m := range r.row(source)[r.bounds[target]:r.bounds[target+1]] {
		n += int(m)
	}
	return n
}

// divide gives each PE its buckets and finds what this PE has to expect.
func (r *ranker) divide() error {
	totals := make([]int64, r.buckets())
	for pe := range r.pe.NPEs() {
		for b, n := range r.row(pe)[:r.buckets()] {
			totals[b] += int64(n)
		}
	}
	deal(totals, r.bounds)

	lower, me := int64(0), r.pe.MyPE()
	for p := range r.pe.NPEs() {
		n := int64(0)
		for _, m := range totals[r.bounds[p]:r.bounds[p+1]] {
			n += m
		}
		if n > int64(r.received.Len()) {
			return fmt.Errorf("%d keys fall to PE %d, which has room for %d", n, p, r.received.Len())
		}
		if p == me {
			r.lower, r.ranked = lower, int(n)
		}
		lower += n
	}
	r.least = r.bounds[me] << r.bucketShift()
	span := (r.bounds[me+1] - r.bounds[me]) << r.bucketShift()
	if cap(r.ranks) < span {
		r.ranks = make([]uint32, span)
	}
	r.ranks = r.ranks[:span]
	return nil
}

// send puts every key in the memory of the PE that ranks it, behind the keys
// from lower PEs: one put for each target. PEs start with different targets, so
// that no one is everybody's at once.
func (r *ranker) send() {
	me, npes := r.pe.MyPE(), r.pe.NPEs()
	for i := range npes {
		target := (me + 1 + i) % npes
		start := 0 // in sorted
		for p := range target {
			start += r.from(me, p)
		}
		at := 0 // in the target's received
		for p := range me {
			at += r.from(p, target)
		}
		n := r.from(me, target)
		shmem.Put(r.received.Slice(at, at+n), r.sorted[start:start+n], target)
	}
}

// rankOf returns the number of keys of all PEs that are less than key, if this
// PE ranks key.
func (r *ranker) rankOf(key int) (rank int64, ok bool) {
	i := key - r.least
	if i < 0 || i >= len(r.ranks) {
		return 0, false
	}
	if i == 0 {
		return r.lower, true
	}
	return r.lower + int64(r.ranks[i-1]), true
}
