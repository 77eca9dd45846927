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
		logKeys: 16, logRange: 11, logBuckets: 9,
		testPositions: [...]int{48427, 17148, 23627, 62548, 4431},
		testRanks:     [...]int64{0, 18, 346, 64917, 65463},
		slope:         [...]int64{1, 1, 1, -1, -1},
	},
	'W': {
		logKeys: 20, logRange: 16, logBuckets: 10,
		testPositions: [...]int{357773, 934767, 875723, 898999, 404505},
		testRanks:     [...]int64{1249, 11698, 1039987, 1043896, 1048018},
		slope:         [...]int64{1, 1, -1, -1, -1},
		shift:         [...]int64{-2, -2, 0, 0, 0},
	},
	'A': {
		logKeys: 23, logRange: 19, logBuckets: 10,
		testPositions: [...]int{2112377, 662041, 5336171, 3642833, 4250760},
		testRanks:     [...]int64{104, 17523, 123928, 8288932, 8388264},
		slope:         [...]int64{1, 1, 1, -1, -1},
		shift:         [...]int64{-1, -1, -1, 1, 1},
	},
	'B': {
		logKeys: 25, logRange: 21, logBuckets: 10,
		testPositions: [...]int{41869, 812306, 5102857, 18232239, 26860214},
		testRanks:     [...]int64{33422937, 10244, 59149, 33135281, 99},
		slope:         [...]int64{-1, 1, 1, -1, 1},
	},
	'C': {
		logKeys: 27, logRange: 23, logBuckets: 10,
		testPositions: [...]int{44172927, 72999161, 74326391, 129606274, 21736814},
		testRanks:     [...]int64{61147, 882988, 266290, 133997595, 133525895},
		slope:         [...]int64{1, 1, 1, -1, -1},
	},
	'D': {
		logKeys: 31, logRange: 27, logBuckets: 10,
		testPositions: [...]int{1317351170, 995930646, 1157283250, 1503301535, 1453734525},
		testRanks:     [...]int64{1, 36538729, 1978098519, 2145192618, 2147425337},
		slope:         [...]int64{1, 1, -1, -1, -1},
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
