// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// blockPairs is the number of pairs that are worked on at a time: the block
// stays in the first-level cache from pass to pass.
const blockPairs = 1024

// atOnce is the number of sums that take turns, for an addition not to wait for
// the one before. Vectors of any form are a part of so many points.
const atOnce = 8

// A block turns pairs of uniform numbers into pairs of Gaussian ones by the
// polar method (Marsaglia 1964), in passes whose iterations do not wait for one
// another: one long loop would be bound by the latency of its logarithm, its
// divisions and its root.
type block struct {
	x, y   [blockPairs]float64 // the accepted points of the unit disc
	factor [blockPairs]float64 // the square of what makes them Gaussian
	s      [blockPairs]float64 // on the way to its logarithm
}

// tally is what is kept of the Gaussian pairs.
type tally struct {
	sumX, sumY float64
	annuli     [16]int64 // pairs by the integer part of the larger coordinate's size; at most 12 occur
}

// loops are the loops that the time goes to, in one of the forms that they exist
// in. All give the same bits.
type loops struct {
	// draw makes points of the stream's next blockPairs pairs of draws, keeps those
	// in the unit disc and returns their number. What follows them is spoiled.
	draw func(b *block, stream nas.Random) int
	// transform makes the first n points Gaussian and adds them to sum. It may spoil
	// points after them.
	transform func(b *block, n int, sum *tally)
}

// loopsOf returns the loops in a form of this machine's.
func loopsOf(form nas.Form) loops {
	if l, ok := vectorLoops(form); ok {
		return l
	}
	return loops{draw, transform}
}

// A point is stored before it is known whether it will be kept, so there is no
// branch to mispredict.
func draw(b *block, stream nas.Random) int {
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
		b.x[i], b.y[i] = x, y
		n += uint(math.Float64bits(1-t)>>63 ^ 1) // one if t ≤ 1
	}
	return int(n)
}

// symmetric maps the state of the generator, r·2^46, to 2r−1: the state becomes
// the leading bits of the fraction of a number in [2, 4), so nothing is rounded.
func symmetric(state uint64) float64 {
	const two = 0x400 << 52
	return math.Float64frombits(state&nas.StateMask<<6|two) - 3
}

func transform(b *block, n int, sum *tally) {
	factor := b.factor[:n]
	b.squares(factor)
	var sumX, sumY [atOnce]float64
	var annuli [2]([16]int64) // alternating, for an increment to wait less for the one before
	xs, ys := b.x[:len(factor)], b.y[:len(factor)]
	for i, square := range factor {
		f := math.Sqrt(square)
		x, y := float64(xs[i]*f), float64(ys[i]*f)
		sumX[i%atOnce] += x
		sumY[i%atOnce] += y
		annuli[i%2][uint(int(larger(x, y)))%16]++
	}
	sum.add(&sumX, &sumY)
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

// add adds the sums that took turns.
func (t *tally) add(x, y *[atOnce]float64) {
	t.sumX += total(x)
	t.sumY += total(y)
}

func total(s *[atOnce]float64) float64 {
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}
