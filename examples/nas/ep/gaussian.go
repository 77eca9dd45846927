// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// blockPairs is the number of pairs that are worked on at a time: the block
// stays in the first-level cache from pass to pass.
const blockPairs = 1024

// A block turns pairs of uniform numbers into pairs of Gaussian ones by the
// polar method (Marsaglia 1964), in passes whose iterations do not wait for one
// another: one long loop would be bound by the latency of its logarithm, its
// division and its root.
type block struct {
	x, y   [blockPairs]float64 // the accepted points of the unit disc
	t      [blockPairs]float64 // x²+y²
	factor [blockPairs]float64 // the square of what makes them Gaussian
	logs   *logTable
}

// tally is what is kept of the Gaussian pairs.
type tally struct {
	sumX, sumY float64
	annuli     [16]int64 // pairs by the integer part of the larger coordinate's size; at most 10 occur
}

// draw makes points of the stream's next blockPairs pairs of draws, keeps those
// in the unit disc and returns their number. A point is stored before it is
// known whether it will be kept, so there is no branch to mispredict.
func (b *block) draw(stream nas.Random) uint {
	const squared = nas.Multiplier * nas.Multiplier
	u := uint64(stream) * nas.Multiplier // two chains of multiplications, each of every other draw
	v := u * nas.Multiplier
	n := uint(0) // unsigned, for a cheap remainder
	for range blockPairs {
		x, y := symmetric(u), symmetric(v)
		u *= squared
		v *= squared
		t := float64(x*x) + float64(y*y) // never fused: every machine accepts the same points
		i := n % blockPairs
		b.x[i], b.y[i], b.t[i] = x, y, t
		n += uint(math.Float64bits(1-t)>>63 ^ 1) // one if t ≤ 1
	}
	return n
}

// symmetric maps the state of the generator, r·2^46, to 2r−1: the state becomes
// the leading bits of the fraction of a number in [1, 2), so nothing is rounded.
func symmetric(state uint64) float64 {
	const one = 0x3ff << 52
	return math.Float64frombits(state&nas.StateMask<<6|one)*2 - 3
}

// transform makes the first n points Gaussian and adds them to sum.
func (b *block) transform(n uint, sum *tally) {
	logs := b.logs
	t := b.t[:n]
	factor := b.factor[:len(t)]
	for i, t := range t {
		factor[i] = -2 * logs.log(t) / t
	}

	sumX, sumY := sum.sumX, sum.sumY
	var annuli [2]([16]int64) // alternating, for an increment to wait less for the one before
	xs, ys := b.x[:len(factor)], b.y[:len(factor)]
	for i, square := range factor {
		f := math.Sqrt(square)
		x, y := xs[i]*f, ys[i]*f
		sumX += x
		sumY += y
		annuli[i%2][uint(int(larger(x, y)))%16]++
	}
	sum.sumX, sum.sumY = sumX, sumY
	for i := range sum.annuli {
		sum.annuli[i] += annuli[0][i] + annuli[1][i]
	}
}

// larger returns the larger of |x| and |y|. The bits of positive numbers are
// ordered as the numbers are, and the built-in max would look for NaNs.
func larger(x, y float64) float64 {
	const sign = 1 << 63
	return math.Float64frombits(max(math.Float64bits(x)&^sign, math.Float64bits(y)&^sign))
}
