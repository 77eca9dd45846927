// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

// loops are the loops that most of the time goes to, in one of the forms that they
// exist in. All give the same bits.
type loops struct {
	multiply product
	// reduce subtracts a·q from the first elements of r, as many as q has, and
	// returns the sum of their squares.
	reduce func(r []float64, a float64, q []float64) float64
	// addTo makes y = x + a·y for the first elements of y, as many as x has.
	addTo func(x []float64, a float64, y []float64)
}

// loopsOf returns the loops in a form of this machine's.
func loopsOf(form nas.Form) loops {
	if l, ok := vectorLoops(form); ok {
		return l
	}
	return loops{multiply, reduce, addTo}
}

// atOnce is how many elements of vectors the loops work on at a time. What is left
// over they work on one by one.
const atOnce = 8

// reduce has eight sums, which take turns, for an addition not to wait for the one
// before.
func reduce(r []float64, a float64, q []float64) float64 {
	r = r[:len(q)]
	var s [atOnce]float64
	for len(q) >= atOnce && len(r) >= atOnce {
		for i := range s {
			v := r[i] - float64(a*q[i])
			r[i] = v
			s[i] += float64(v * v)
		}
		q, r = q[atOnce:], r[atOnce:]
	}
	sum := ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
	return sum + reduceRest(r, a, q)
}

// reduceRest is reduce of a few elements.
func reduceRest(r []float64, a float64, q []float64) (sum float64) {
	r = r[:len(q)]
	for i, v := range q {
		r[i] -= float64(a * v)
		sum += float64(r[i] * r[i])
	}
	return sum
}

func addTo(x []float64, a float64, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = v + float64(a*y[i])
	}
}
