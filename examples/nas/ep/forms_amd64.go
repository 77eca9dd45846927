// SPDX-License-Identifier: BSD-3-Clause

//go:build !purego

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

// forms returns the forms beside Go that the loops have been written in.
func forms() []nas.Form { return []nas.Form{nas.AVX2, nas.AVX512} }

// vectorLoops returns the loops in a vector form.
func vectorLoops(form nas.Form) (l loops, ok bool) {
	switch form {
	case nas.AVX2:
		return assembled(drawAVX2, transformAVX2), true
	case nas.AVX512:
		return assembled(drawAVX512, transformAVX512), true
	default:
		return loops{}, false
	}
}

// assembled returns the loops made of these functions, which check nothing.
// They work on atOnce points at a time.
func assembled(
	draw func(x, y *float64, states *[atOnce]uint64, pairs int) int,
	transform func(x, y *float64, n int, sums *[2][atOnce]float64, counts *[atOnce]uint64),
) loops {
	return loops{
		draw: func(b *block, stream nas.Random) int {
			var states [atOnce]uint64 // after each pair's first draw
			u := uint64(stream) * nas.Multiplier
			for i := range states {
				states[i] = u
				u *= nas.Multiplier * nas.Multiplier
			}
			return draw(&b.x[0], &b.y[0], &states, blockPairs)
		},
		transform: func(b *block, n int, sum *tally) {
			whole := (n + atOnce - 1) / atOnce * atOnce
			for i := n; i < whole; i++ {
				b.x[i], b.y[i] = 1, 0 // becomes zero: t is 1, its logarithm 0
			}
			if whole == 0 {
				return
			}
			var sums [2][atOnce]float64
			var counts [atOnce]uint64
			transform(&b.x[:whole][0], &b.y[:whole][0], whole, &sums, &counts)
			sum.add(&sums[0], &sums[1])
			if !sum.count(&counts, n, whole) {
				b.recount(n, sum)
			}
		},
	}
}

// counted is how many annuli a word has bytes for. A block has at most 128 points
// a word.
const counted = 8

// count adds the counts of n points of whole, of which the others became zero. It
// reports whether those were all: if there are points further out, it adds nothing.
func (t *tally) count(counts *[atOnce]uint64, n, whole int) bool {
	const alternate = 0x00ff00ff00ff00ff
	var even, odd uint64 // sums, of 16 bits each
	for _, c := range counts {
		even += c & alternate
		odd += c >> 8 & alternate
	}
	var annuli [counted]int64
	all := int64(0)
	for i := range annuli {
		annuli[i] = int64(even & 0xffff)
		even, odd = odd, even>>16
		all += annuli[i]
	}
	if all < int64(whole) {
		return false
	}
	annuli[0] -= int64(whole - n)
	for i, c := range annuli {
		t.annuli[i] += c
	}
	return true
}

// recount adds the counts of the first n points in Go. That is for pairs as large
// as 8, one in 4·10^14.
func (b *block) recount(n int, sum *tally) {
	var all tally
	transform(b, n, &all)
	for i, c := range all.annuli {
		sum.annuli[i] += c
	}
}
