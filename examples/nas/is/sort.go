// SPDX-License-Identifier: BSD-3-Clause

package main

// The work on one PE's keys, without communication. maxBuckets is the largest
// number of buckets of any class; a table of that length and a masked index
// need no bounds check.
const maxBuckets = 1 << 10

// buckets holds a number for each bucket.
type buckets [maxBuckets]uint32

// countBuckets returns how many keys fall in each bucket. Four tables take
// turns, for an increment not to wait for the one before.
func countBuckets(keys []int32, shift uint) *buckets {
	var counts [4]buckets
	for len(keys) >= 4 {
		counts[0][uint32(keys[0])>>(shift&31)%maxBuckets]++
		counts[1][uint32(keys[1])>>(shift&31)%maxBuckets]++
		counts[2][uint32(keys[2])>>(shift&31)%maxBuckets]++
		counts[3][uint32(keys[3])>>(shift&31)%maxBuckets]++
		keys = keys[4:]
	}
	for _, key := range keys {
		counts[0][uint32(key)>>(shift&31)%maxBuckets]++
	}
	for b := range counts[0] {
		counts[0][b] += counts[1][b] + counts[2][b] + counts[3][b]
	}
	return &counts[0]
}

// scatter copies keys to sorted, in the order of their buckets, which hold
// counts keys.
func scatter(sorted, keys []int32, counts *buckets, shift uint) {
	var next buckets
	var at uint32
	for b, n := range counts {
		next[b] = at
		at += n
	}
	for _, key := range keys {
		b := uint32(key) >> (shift & 31) % maxBuckets
		at := next[b]
		sorted[at] = key
		next[b] = at + 1
	}
}

// accumulate makes ranks[i] the number of keys that are at most least+i. No key
// is less than least.
func accumulate(ranks []uint32, keys []int32, least int) {
	clear(ranks)
	for _, key := range keys {
		ranks[int(key)-least]++
	}
	var sum uint32
	for i, n := range ranks {
		sum += n
		ranks[i] = sum
	}
}

// spell is place for keys that nobody has: it writes as many of each value as ranks say.
func spell(sorted []int32, ranks []uint32, least int) {
	at := uint32(0)
	for i, end := range ranks {
		for ; at < end; at++ {
			sorted[at] = int32(least + i)
		}
	}
}

// place copies keys to sorted, each to the place that ranks, made by
// accumulate, has for it. It uses ranks up.
func place(sorted, keys []int32, ranks []uint32, least int) {
	for _, key := range keys {
		ranks[int(key)-least]--
		sorted[ranks[int(key)-least]] = key
	}
}

// deal gives the buckets to the PEs in order: bucket b goes to the PE p for
// which bounds[p] ≤ b < bounds[p+1]. A PE's share ends with the bucket that
// fills up its and the former PEs' even parts of all keys, so it exceeds its
// part by less than one bucket.
func deal(counts []int64, bounds []int) {
	npes := len(bounds) - 1
	var all int64
	for _, n := range counts {
		all += n
	}
	bounds[0] = 0
	p, sum := 0, int64(0)
	for b, n := range counts {
		sum += n
		if p < npes && sum*int64(npes) >= int64(p+1)*all {
			p++
			bounds[p] = b + 1
		}
	}
	for ; p < npes; p++ { // more PEs than buckets
		bounds[p+1] = len(counts)
	}
	bounds[npes] = len(counts)
}
