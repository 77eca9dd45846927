// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"slices"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/yard"
)

func TestGenerate_PartsMakeTheWhole(t *testing.T) {
	p := problems['S']
	whole := p.generate(0, p.size())
	for npes := 2; npes <= 5; npes++ {
		var parts []int32
		for me := range npes {
			lo, hi := yard.Share(p.size(), me, npes)
			parts = append(parts, p.generate(lo, hi)...)
		}
		if !slices.Equal(parts, whole) {
			t.Errorf("%d PEs generate other keys than one", npes)
		}
	}
	if least, greatest := slices.Min(whole), slices.Max(whole); least < 0 || greatest >= 1<<p.logRange {
		t.Errorf("keys from %d to %d, want them in [0, %d)", least, greatest, 1<<p.logRange)
	}
}

func TestScatter_OrdersByBucketAndKeepsTheKeys(t *testing.T) {
	p := problems['S']
	keys := p.generate(0, 1003) // not a multiple of the tables that take turns
	shift := p.bucketShift()
	counts := countBuckets(keys, shift)
	sorted := make([]int32, len(keys))
	scatter(sorted, keys, counts, shift)

	byBucket := func(a, b int32) int { return int(a>>shift - b>>shift) }
	want := slices.Clone(keys)
	slices.SortStableFunc(want, byBucket)
	if !slices.Equal(sorted, want) {
		t.Error("scatter is not a stable sort by bucket")
	}
}

func TestAccumulate_CountsTheKeysUpToEach(t *testing.T) {
	keys := []int32{7, 5, 9, 5, 7, 5}
	ranks := []uint32{99, 99, 99, 99, 99, 99}
	accumulate(ranks, keys, 5)
	if want := []uint32{3, 3, 5, 5, 6, 6}; !slices.Equal(ranks, want) {
		t.Errorf("ranks are %v, want %v", ranks, want)
	}
	sorted := make([]int32, len(keys))
	place(sorted, keys, ranks, 5)
	if want := []int32{5, 5, 5, 7, 7, 9}; !slices.Equal(sorted, want) {
		t.Errorf("placed keys are %v, want %v", sorted, want)
	}
}

func TestDeal(t *testing.T) {
	for _, c := range []struct {
		counts []int64
		npes   int
		want   []int
	}{
		{[]int64{1, 1, 1, 1}, 1, []int{0, 4}},
		{[]int64{1, 1, 1, 1}, 2, []int{0, 2, 4}},
		{[]int64{1, 2, 4, 1}, 2, []int{0, 3, 4}},    // the bucket that fills up the share belongs to it
		{[]int64{1, 1, 0, 0}, 2, []int{0, 1, 4}},    // empty buckets at the end are somebody's
		{[]int64{9, 0, 0, 0}, 3, []int{0, 1, 2, 4}}, // one bucket fills up several shares
		{[]int64{5, 5}, 4, []int{0, 1, 2, 2, 2}},    // more PEs than buckets
		{[]int64{0, 0, 3, 3, 3, 3}, 4, []int{0, 3, 4, 5, 6}},
	} {
		bounds := make([]int, c.npes+1)
		deal(c.counts, bounds)
		if !slices.Equal(bounds, c.want) {
			t.Errorf("deal(%v) to %d PEs is %v, want %v", c.counts, c.npes, bounds, c.want)
		}
	}
}

// The published ranks hold for the published keys, iteration by iteration.
func TestProblem_RanksOfClassS(t *testing.T) {
	p := problems['S']
	keys := p.generate(0, p.size())
	ranks := make([]uint32, 1<<p.logRange)
	for iteration := 1; iteration <= classIterations; iteration++ {
		keys[iteration], keys[iteration+classIterations] = int32(iteration), int32(1<<p.logRange-iteration)
		accumulate(ranks, keys, 0)
		for i, position := range p.testPositions {
			if got, want := int64(ranks[keys[position]-1]), p.testRank(i, iteration); got != want {
				t.Errorf("iteration %d, test %d: rank %d, want %d", iteration, i, got, want)
			}
		}
	}
}

func TestFingerprint_TellsKeysApartButNotTheirOrder(t *testing.T) {
	keys := []int32{3, 1, 4, 1, 5}
	want := fingerprint(keys)
	if got := fingerprint([]int32{1, 1, 3}) + fingerprint([]int32{5, 4}); got != want {
		t.Errorf("parts in another order have %#x, want %#x", got, want)
	}
	for _, others := range [][]int32{{3, 1, 4, 1}, {3, 1, 4, 1, 6}, {3, 1, 4, 2, 4}, {3, 1, 4, 1, 5, 0x7fffffff}} {
		if fingerprint(others) == want {
			t.Errorf("%v has the fingerprint of %v", others, keys)
		}
	}
}

func TestDisorder(t *testing.T) {
	if got := disorder([]int32{1, 1, 0, 5, 4, 4}); got != 2 {
		t.Errorf("got %d, want 2", got)
	}
}

func TestJudge(t *testing.T) {
	right := func() []int64 {
		return []int64{
			// confirmed, disorder, change, keys, first, last
			3, 0, -7, 4, 0, 5,
			0, 0, 0, 0, 0, 0, // a PE without keys
			2, 0, 7, 2, 5, 9,
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(all []int64)
		want  verdict
	}{
		{"all well", func([]int64) {}, verdict{5, 0, false}},
		{"disorder within a PE", func(all []int64) { all[tellDisorder] = 2 }, verdict{5, 2, false}},
		{"disorder between PEs", func(all []int64) { all[2*tellings+tellFirst] = 4 }, verdict{5, 1, false}},
		{"a rank not confirmed", func(all []int64) { all[tellConfirmed] = 2 }, verdict{4, 0, false}},
		{"a key altered", func(all []int64) { all[tellChange]++ }, verdict{5, 0, true}},
	} {
		all := right()
		c.spoil(all)
		if got := judge(all); got != c.want {
			t.Errorf("%s: verdict is %+v, want %+v", c.name, got, c.want)
		}
	}
}
