// SPDX-License-Identifier: BSD-3-Clause

package main

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
		sumOddRe, sumOddIm := x1.re[i]+x3.re[i], x1.im[i]+x3.im[i]
		difOddRe, difOddIm := x1.re[i]-x3.re[i], x1.im[i]-x3.im[i]

		y0.re[i], y0.im[i] = sumRe+sumOddRe, sumIm+sumOddIm
		re, im := difRe+difOddIm, difIm-difOddRe // difference - i·odd difference
		y1.re[i], y1.im[i] = re*w.re[0]-im*w.im[0], re*w.im[0]+im*w.re[0]
		re, im = sumRe-sumOddRe, sumIm-sumOddIm
		y2.re[i], y2.im[i] = re*w.re[1]-im*w.im[1], re*w.im[1]+im*w.re[1]
		re, im = difRe-difOddIm, difIm+difOddRe
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
			sumOddRe, sumOddIm := x1.re[i]+x3.re[i], x1.im[i]+x3.im[i]
			difOddRe, difOddIm := x1.re[i]-x3.re[i], x1.im[i]-x3.im[i]
			y0.re[i], y0.im[i] = sumRe+sumOddRe, sumIm+sumOddIm
			y1.re[i], y1.im[i] = difRe+difOddIm, difIm-difOddRe
			y2.re[i], y2.im[i] = sumRe-sumOddRe, sumIm-sumOddIm
			y3.re[i], y3.im[i] = difRe-difOddIm, difIm+difOddRe
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
