// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

const (
	seed            = 314159265
	classIterations = 10
	drawsPerKey     = 4
	partialTests    = 5 // keys whose ranks are known, in each iteration
)

// problem is a class of IS: its sizes, and five positions of the array of keys
// with the ranks of the keys found there.
type problem struct {
	logKeys, logRange, logBuckets int

	testPositions [partialTests]int
	testRanks     [partialTests]int64
	// The keys that an iteration changes shift these ranks, by
	// slope·iteration + shift.
	slope, shift [partialTests]int64
}

var problems = map[nas.Class]problem{
	'S': {
		16, 11, 9,
		[...]int{48427, 17148, 23627, 62548, 4431},
		[...]int64{0, 18, 346, 64917, 65463},
		[...]int64{1, 1, 1, -1, -1}, [partialTests]int64{},
	},
	'W': {
		20, 16, 10,
		[...]int{357773, 934767, 875723, 898999, 404505},
		[...]int64{1249, 11698, 1039987, 1043896, 1048018},
		[...]int64{1, 1, -1, -1, -1}, [...]int64{-2, -2, 0, 0, 0},
	},
	'A': {
		23, 19, 10,
		[...]int{2112377, 662041, 5336171, 3642833, 4250760},
		[...]int64{104, 17523, 123928, 8288932, 8388264},
		[...]int64{1, 1, 1, -1, -1}, [...]int64{-1, -1, -1, 1, 1},
	},
	'B': {
		25, 21, 10,
		[...]int{41869, 812306, 5102857, 18232239, 26860214},
		[...]int64{33422937, 10244, 59149, 33135281, 99},
		[...]int64{-1, 1, 1, -1, 1}, [partialTests]int64{},
	},
	'C': {
		27, 23, 10,
		[...]int{44172927, 72999161, 74326391, 129606274, 21736814},
		[...]int64{61147, 882988, 266290, 133997595, 133525895},
		[...]int64{1, 1, 1, -1, -1}, [partialTests]int64{},
	},
	'D': {
		31, 27, 10,
		[...]int{1317351170, 995930646, 1157283250, 1503301535, 1453734525},
		[...]int64{1, 36538729, 1978098519, 2145192618, 2147425337},
		[...]int64{1, 1, -1, -1, -1}, [partialTests]int64{},
	},
}

// size is the number of keys.
func (p *problem) size() int { return 1 << p.logKeys }

// buckets is the number of buckets.
func (p *problem) buckets() int { return 1 << p.logBuckets }

// bucketShift is what a key is shifted by to give its bucket.
func (p *problem) bucketShift() uint { return uint(p.logRange - p.logBuckets) }

// testRank returns the rank that test i's key has in an iteration of the class's.
func (p *problem) testRank(i, iteration int) int64 {
	return p.testRanks[i] + p.slope[i]*int64(iteration) + p.shift[i]
}

// generate returns the keys from position lo up to hi of the whole array: a key
// is a quarter of the range times the sum of four draws.
func (p *problem) generate(lo, hi int) []int32 {
	stream := nas.Random(seed).Skipped(drawsPerKey * uint64(lo))
	quarter := float64(int(1) << (p.logRange - 2))
	keys := make([]int32, hi-lo)
	for i := range keys {
		sum := stream.Next()
		sum += stream.Next()
		sum += stream.Next()
		sum += stream.Next()
		keys[i] = int32(quarter * sum)
	}
	return keys
}
