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
// if k is odd. 17/8·n·log2(n) additions and multiplications, about.
type transform struct {
	n      int
	passes [][]roots // of the passes of radix 4 with factors other than 1
	x, y   []columns
}

// roots are the factors of a butterfly's three last results: w, w² and w³ for
// some root of unity w.
type roots struct{ re, im [3]float64 }

func newTransform(n int) *transform {
	t := &transform{n: n, x: make([]columns, n), y: make([]columns, n)}
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
		pass4(y, x, stride, pass)
		x, y = y, x
		stride *= 4
	}
	if bits.Len(uint(t.n))%2 == 1 { // n is a power of 4
		last4(y, x)
	} else {
		last2(y, x)
	}
	return y
}

// pass4 does a pass of radix 4. Butterfly p of those that have different roots
// combines every quarter-th element, stride times over.
func pass4(y, x []columns, stride int, pass []roots) {
	quarter := len(x) / 4
	for p := range pass {
		from, to := x[p*stride:], y[4*p*stride:]
		for q := range stride {
			butterfly4(
				&to[q], &to[q+stride], &to[q+2*stride], &to[q+3*stride],
				&from[q], &from[q+quarter], &from[q+2*quarter], &from[q+3*quarter],
				&pass[p],
			)
		}
	}
}

func butterfly4(y0, y1, y2, y3, x0, x1, x2, x3 *columns, w *roots) {
	for i := range lanes {
		sumRe, sumIm := x0.re[i]+x2.re[i], x0.im[i]+x2.im[i]
		difRe, difIm := x0.re[i]-x2.re[i], x0.im[i]-x2.im[i]
		oddRe, oddIm := x1.re[i]+x3.re[i], x1.im[i]+x3.im[i]
		// -i times the difference
		turnRe, turnIm := x1.im[i]-x3.im[i], x3.re[i]-x1.re[i]

		y0.re[i], y0.im[i] = sumRe+oddRe, sumIm+oddIm
		re, im := difRe+turnRe, difIm+turnIm
		y1.re[i], y1.im[i] = re*w.re[0]-im*w.im[0], re*w.im[0]+im*w.re[0]
		re, im = sumRe-oddRe, sumIm-oddIm
		y2.re[i], y2.im[i] = re*w.re[1]-im*w.im[1], re*w.im[1]+im*w.re[1]
		re, im = difRe-turnRe, difIm-turnIm
		y3.re[i], y3.im[i] = re*w.re[2]-im*w.im[2], re*w.im[2]+im*w.re[2]
	}
}

// last4 does a last pass of radix 4, whose factors are all 1.
func last4(y, x []columns) {
	quarter := len(x) / 4
	x0, x1, x2, x3 := x[:quarter], x[quarter:][:quarter], x[2*quarter:][:quarter], x[3*quarter:][:quarter]
	y0, y1, y2, y3 := y[:quarter], y[quarter:][:quarter], y[2*quarter:][:quarter], y[3*quarter:][:quarter]
	for q := range x0 {
		x0, x1, x2, x3 := &x0[q], &x1[q], &x2[q], &x3[q]
		y0, y1, y2, y3 := &y0[q], &y1[q], &y2[q], &y3[q]
		for i := range lanes {
			sumRe, sumIm := x0.re[i]+x2.re[i], x0.im[i]+x2.im[i]
			difRe, difIm := x0.re[i]-x2.re[i], x0.im[i]-x2.im[i]
			oddRe, oddIm := x1.re[i]+x3.re[i], x1.im[i]+x3.im[i]
			turnRe, turnIm := x1.im[i]-x3.im[i], x3.re[i]-x1.re[i]
			y0.re[i], y0.im[i] = sumRe+oddRe, sumIm+oddIm
			y1.re[i], y1.im[i] = difRe+turnRe, difIm+turnIm
			y2.re[i], y2.im[i] = sumRe-oddRe, sumIm-oddIm
			y3.re[i], y3.im[i] = difRe-turnRe, difIm-turnIm
		}
	}
}

// last2 does a last pass of radix 2.
func last2(y, x []columns) {
	half := len(x) / 2
	x0, x1, y0, y1 := x[:half], x[half:][:half], y[:half], y[half:][:half]
	for q := range x0 {
		x0, x1, y0, y1 := &x0[q], &x1[q], &y0[q], &y1[q]
		for i := range lanes {
			y0.re[i], y0.im[i] = x0.re[i]+x1.re[i], x0.im[i]+x1.im[i]
			y1.re[i], y1.im[i] = x0.re[i]-x1.re[i], x0.im[i]-x1.im[i]
		}
	}
}
