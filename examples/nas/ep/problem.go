// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

const (
	seed       = 271828183
	batchPairs = 1 << 16 // pairs that are dealt to a PE at a time
	rings      = 10      // annuli that are counted
)

// problem is a class of EP and what is known of its result.
type problem struct {
	pairs      int
	sumX, sumY float64
	accepted   int64
}

var problems = map[nas.Class]problem{
	'S': {1 << 24, -3.247834652034740e3, -6.958407078382297e3, 13176389},
	'W': {1 << 25, -2.863319731645753e3, -6.320053679109499e3, 26354769},
	'A': {1 << 28, -4.295875165629892e3, -1.580732573678431e4, 210832767},
	'B': {1 << 30, 4.033815542441498e4, -2.660669192809235e4, 843345606},
	'C': {1 << 32, 4.764367927995374e4, -8.084072988043731e4, 3373275903},
	'D': {1 << 36, 1.982481200946593e5, -1.020596636361769e5, 53972171957},
}

// verify reports whether sum is the result: the sums to 1e-8 of their size, as
// they depend on the order of the additions, and the count exactly.
func (p problem) verify(sum *tally) bool {
	near := func(got, want float64) bool { return math.Abs((got-want)/want) <= 1e-8 }
	return near(sum.sumX, p.sumX) && near(sum.sumY, p.sumY) && sum.accepted() == p.accepted
}

// accepted returns the number of pairs in all annuli.
func (t *tally) accepted() int64 {
	var n int64
	for _, c := range t.annuli {
		n += c
	}
	return n
}
