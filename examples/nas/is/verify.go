// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

// verdict is what the full verification of a ranking found, over all PEs.
type verdict struct {
	confirmed int64 // partial tests
	disorder  int64 // neighbours that are out of order
	altered   bool  // the keys are not those that there were
}

// What each PE tells all others for the verdict.
const (
	tellConfirmed = iota
	tellDisorder
	tellChange // fingerprint of the keys ranked less that of the keys held
	tellKeys   // number of keys ranked
	tellFirst  // the least of them
	tellLast   // the greatest

	tellings
)

// verify places the keys by their ranks and looks whether they are in order,
// within PEs and from PE to PE, and still the same keys. It uses the ranking up.
// It is collective over all PEs and returns the same verdict on each.
func (r *ranker) verify(confirmed int) (verdict, error) {
	mine, err := shmem.Alloc[int64](r.pe, tellings)
	if err != nil {
		return verdict{}, err
	}
	all, err := shmem.Alloc[int64](r.pe, tellings*r.pe.NPEs())
	if err != nil {
		return verdict{}, err
	}

	sorted := make([]int32, r.ranked)
	if r.counter != nil {
		spell(sorted, r.ranks, r.least)
	} else {
		place(sorted, r.received.Local()[:r.ranked], r.ranks, r.least)
	}

	tell := mine.Local()
	tell[tellConfirmed] = int64(confirmed)
	tell[tellDisorder] = disorder(sorted)
	tell[tellChange] = fingerprint(sorted) - fingerprint(r.keys)
	tell[tellKeys] = int64(r.ranked)
	if r.ranked > 0 {
		tell[tellFirst], tell[tellLast] = int64(sorted[0]), int64(sorted[r.ranked-1])
	}
	shmem.FCollect(r.pe.World(), all, mine)
	return judge(all.Local()), nil
}

// disorder counts the keys that are less than the one before.
func disorder(keys []int32) (n int64) {
	for i := 1; i < len(keys); i++ {
		if keys[i-1] > keys[i] {
			n++
		}
	}
	return n
}

// fingerprint returns a number that does not depend on the order of the keys,
// and hardly ever is the same for others. Those of parts add up to the whole's.
func fingerprint(keys []int32) (sum int64) {
	const odd = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	for _, key := range keys {
		x := uint64(key) * odd
		sum += int64((x ^ x>>32) * odd)
	}
	return sum
}

// judge sums up what the PEs told.
func judge(all []int64) (v verdict) {
	var change, last int64
	for ; len(all) > 0; all = all[tellings:] {
		v.confirmed += all[tellConfirmed]
		v.disorder += all[tellDisorder]
		change += all[tellChange]
		if all[tellKeys] == 0 {
			continue
		}
		if all[tellFirst] < last {
			v.disorder++
		}
		last = all[tellLast]
	}
	v.altered = change != 0
	return v
}
