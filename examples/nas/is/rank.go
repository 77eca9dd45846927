// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

// The sections that -timers reports.
const (
	timeBuckets = iota
	timeReduction
	timeExchange
	timeRanks
)

var sections = []string{"Buckets", "Reduction", "Exchange", "Ranks"}

// A ranker ranks the keys of all PEs, again and again. Each PE holds a part of
// the array of keys, and comes to hold all keys of some buckets, which it ranks.
type ranker struct {
	problem
	pe     *shmem.PE
	timers *nas.Timers

	first  int     // position of keys[0] in the whole array
	keys   []int32 // this PE's part of the array
	sorted []int32 // the same, in the order of buckets

	counts   shmem.Sym[int64] // this PE's keys in each bucket, then the test keys it holds
	totals   shmem.Sym[int64] // the sum of counts over all PEs
	received shmem.Sym[int32] // the keys of this PE's buckets, from all PEs
	arrived  shmem.Sym[int64] // how many there are, or are announced

	// What the last ranking came to.
	bounds []int    // PE p ranks the buckets from bounds[p] up to bounds[p+1]
	ranked int      // keys in this PE's buckets
	lower  int64    // keys in the buckets of lower PEs
	least  int      // the least key that belongs in this PE's buckets
	ranks  []uint32 // ranks[i]: how many of this PE's are at most least+i
}

// newRanker is collective over all PEs.
func newRanker(pe *shmem.PE, p problem, timers *nas.Timers) (*ranker, error) {
	first, end := nas.Share(p.size(), pe.MyPE(), pe.NPEs())
	r := &ranker{
		problem: p, pe: pe, timers: timers,
		first: first, keys: p.generate(first, end), sorted: make([]int32, end-first),
		bounds: make([]int, pe.NPEs()+1),
	}
	// A share may exceed the even one by one bucket. Sums of four even numbers
	// are nowhere denser than 8/3 of the mean, so room for four mean buckets is ample.
	room := min(p.size(), p.size()/pe.NPEs()+4*p.size()/p.buckets())
	var err error
	if r.counts, err = shmem.Alloc[int64](pe, p.buckets()+partialTests); err != nil {
		return nil, err
	}
	if r.totals, err = shmem.Alloc[int64](pe, p.buckets()+partialTests); err != nil {
		return nil, err
	}
	if r.received, err = shmem.Alloc[int32](pe, room); err != nil {
		return nil, err
	}
	if r.arrived, err = shmem.Alloc[int64](pe, 1); err != nil {
		return nil, err
	}
	return r, nil
}

// rank ranks all keys after it has changed two of them, as iteration asks for,
// and returns how many of the ranks that are known for the iteration it could
// confirm; over all PEs, these must add up to partialTests.
func (r *ranker) rank(iteration int) (confirmed int, err error) {
	r.change(iteration)
	sent := countBuckets(r.keys, r.bucketShift())
	scatter(r.sorted, r.keys, sent, r.bucketShift())
	r.timers.Lap(timeBuckets)

	tests := r.reduce(sent)
	r.timers.Lap(timeReduction)

	if err := r.divide(); err != nil {
		return 0, err
	}
	r.send(sent)
	// Nobody reads totals any more, and all keys have arrived everywhere.
	r.pe.BarrierAll()
	if n := shmem.AtomicSwap(r.arrived, 0, r.pe.MyPE()); n != int64(r.ranked) {
		return 0, fmt.Errorf("PE %d received %d keys, want %d", r.pe.MyPE(), n, r.ranked)
	}
	r.timers.Lap(timeExchange)

	accumulate(r.ranks, r.received.Local()[:r.ranked], r.least)
	for i, key := range tests {
		if rank, ok := r.rankOf(key); ok && rank == r.testRank(i, min(iteration, classIterations)) {
			confirmed++
		}
	}
	r.timers.Lap(timeRanks)
	return confirmed, nil
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

// reduce sums up over all PEs the keys in each bucket, in totals, and returns the keys at
// the test positions, to which all PEs but one contribute zero.
func (r *ranker) reduce(sent *buckets) (tests [partialTests]int) {
	counts, totals := r.counts.Local(), r.totals.Local()
	for b := range r.buckets() {
		counts[b] = int64(sent[b])
	}
	for i, position := range r.testPositions {
		counts[r.buckets()+i] = 0
		if j := position - r.first; 0 <= j && j < len(r.keys) {
			counts[r.buckets()+i] = int64(r.keys[j])
		}
	}
	shmem.SumReduce(r.pe.World(), r.totals, r.counts)
	for i := range tests {
		tests[i] = int(totals[r.buckets()+i])
	}
	return tests
}

// divide gives each PE its buckets and finds what this PE has to expect.
func (r *ranker) divide() error {
	totals := r.totals.Local()[:r.buckets()]
	deal(totals, r.bounds)
	me := r.pe.MyPE()
	lower := int64(0)
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

// send puts every key in the memory of the PE that ranks it: a fetching add
// reserves the place for all keys from here to there, and one put fills it. PEs
// start with different targets, so that no one is everybody's.
func (r *ranker) send(sent *buckets) {
	me, npes := r.pe.MyPE(), r.pe.NPEs()
	start := make([]int, npes+1) // of each PE's keys in sorted
	for p := range npes {
		start[p+1] = start[p]
		for _, n := range sent[r.bounds[p]:r.bounds[p+1]] {
			start[p+1] += int(n)
		}
	}
	for i := range npes {
		target := (me + 1 + i) % npes
		keys := r.sorted[start[target]:start[target+1]]
		if len(keys) == 0 {
			continue
		}
		at := int(shmem.AtomicFetchAdd(r.arrived, int64(len(keys)), target))
		shmem.Put(r.received.Slice(at, at+len(keys)), keys, target)
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
