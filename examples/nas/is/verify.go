// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

// verdict is what the full verification of a ranking found, over all PEs.
type verdict struct {
	confirmed int64 // partial tests
	disorder  int64 // neighbours that are out of order
	lost      int64 // keys that went missing
	altered   bool  // keys that became other keys
}

// What each PE tells all others for the verdict.
const (
	tellConfirmed = iota
	tellDisorder
	tellKeys  // received
	tellSum   // of the keys received, less that of the keys held before
	tellFirst // the least key
	tellLast  // the greatest key

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

	received := r.received.Local()[:r.ranked]
	sorted := make([]int32, r.ranked)
	place(sorted, received, r.ranks, r.least)
	tell := mine.Local()
	tell[tellConfirmed] = int64(confirmed)
	tell[tellKeys] = int64(r.ranked)
	for i, key := range sorted {
		tell[tellSum] += int64(key)
		if i > 0 && sorted[i-1] > key {
			tell[tellDisorder]++
		}
	}
	for _, key := range r.keys {
		tell[tellSum] -= int64(key)
	}
	if r.ranked > 0 {
		tell[tellFirst], tell[tellLast] = int64(sorted[0]), int64(sorted[r.ranked-1])
	}
	shmem.FCollect(r.pe.World(), all, mine)
	return judge(all.Local(), r.size()), nil
}

// judge sums up what the PEs told, for so many keys.
func judge(all []int64, keys int) verdict {
	v := verdict{lost: int64(keys)}
	var sum, last int64
	for ; len(all) > 0; all = all[tellings:] {
		v.confirmed += all[tellConfirmed]
		v.disorder += all[tellDisorder]
		v.lost -= all[tellKeys]
		sum += all[tellSum]
		if all[tellKeys] == 0 {
			continue
		}
		if all[tellFirst] < last {
			v.disorder++
		}
		last = all[tellLast]
	}
	v.altered = sum != 0
	return v
}
