// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

// A counter ranks keys without moving one: each PE counts its own keys of every value,
// and is given the sums over all PEs for an interval of values, which is its bucket.
type counter struct {
	own  shmem.Sym[uint32] // this PE's keys of each value
	sums shmem.Sym[uint32] // all PEs' keys of each value of this PE's interval

	mine shmem.Sym[uint32] // the keys in this PE's interval, then the test keys that it holds
	all  shmem.Sym[uint32] // the same of every PE, one after the other
}

// newCounter is collective over all PEs. Keys are less than values.
func newCounter(pe *shmem.PE, values int) (*counter, error) {
	npes := pe.NPEs()
	interval := (values + npes - 1) / npes
	c := new(counter)
	for _, x := range []struct {
		sym *shmem.Sym[uint32]
		n   int
	}{{&c.own, interval * npes}, {&c.sums, interval}, {&c.mine, 1 + partialTests}, {&c.all, (1 + partialTests) * npes}} {
		var err error
		if *x.sym, err = shmem.Alloc[uint32](pe, x.n); err != nil {
			return nil, err
		}
	}
	return c, nil
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

	mine := c.mine.Local()
	mine[0] = sum
	for i, position := range r.testPositions {
		mine[1+i] = 0
		if j := position - r.first; 0 <= j && j < len(r.keys) {
			mine[1+i] = uint32(r.keys[j])
		}
	}
	shmem.FCollect(r.pe.World(), c.all, c.mine)
	r.ranked, r.lower = int(sum), 0
	for pe := range r.pe.NPEs() {
		row := c.all.Local()[pe*len(mine):][:len(mine)]
		if pe < me {
			r.lower += int64(row[0])
		}
		for i, key := range row[1:] {
			tests[i] += int(key)
		}
	}
	r.timers.Lap(timeCounts)
	return tests
}

// spell writes the keys that ranks say there are: ranks[i] is the number of keys that are at most least+i.
func spell(sorted []int32, ranks []uint32, least int) {
	at := uint32(0)
	for i, end := range ranks {
		for ; at < end; at++ {
			sorted[at] = int32(least + i)
		}
	}
}
