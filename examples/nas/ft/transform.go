// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"math/bits"
)

// A transform is a discrete Fourier transform of n = 2^k numbers,
//
//	X[j] = Σ x[l]·exp(-2πi·j·l/n)
//
// by Stockham's method, which orders the numbers as it goes: passes of radix 4,
// of which each reads one array and writes another, and a last one of radix 2
// if k is odd. 17/4·n·log2(n) additions and multiplications, about.
type transform struct {
	n      int
	loops  loops
	passes [][]roots // of the passes of radix 4 with factors other than 1
	x, y   []columns
}

// roots are the factors of a butterfly's three last results: w, w² and w³ for
// some root of unity w.
type roots struct{ re, im [3]float64 }

func newTransform(n int, l loops) *transform {
	t := &transform{n: n, loops: l, x: make([]columns, n), y: make([]columns, n)}
	for span := n; span > 4; span /= 4 { // numbers that a pass combines
		pass := make([]roots, span/4)
		for p := range pass {
			for k := range 3 {
				sin, cos := math.Sincos(-2 * math.Pi * float64((k+1)*p) / float64(span))
				pass[p].re[k], pass[p].im[k] = cos, sin
			}
		}
		t.passes = append(t.passes, pass)
	}
	return t
}

// run transforms the columns in t.x, and returns the results. They and t.x are
// overwritten by the next run.
func (t *transform) run() []columns {
	x, y := t.x, t.y
	stride := 1
	for _, pass := range t.passes {
		t.loops.pass4(y, x, stride, pass)
		x, y = y, x
		stride *= 4
	}
	if bits.Len(uint(t.n))%2 == 1 { // n is a power of 4
		t.loops.last4(y, x)
	} else {
		t.loops.last2(y, x)
	}
	return y
}
