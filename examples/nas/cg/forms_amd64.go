// SPDX-License-Identifier: BSD-3-Clause

//go:build !purego

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

// forms returns the forms beside Go that the loops have been written in.
func forms() []nas.Form { return []nas.Form{nas.AVX2} }

// vectorLoops returns the loops in a vector form. The assembly checks nothing, and
// works on elements at least atOnce.
func vectorLoops(form nas.Form) (l loops, ok bool) {
	if form != nas.AVX2 {
		return loops{}, false
	}
	return loops{
		multiply: func(s *stripe, q []float64, p *[width]float64) {
			n := s.start[len(q)]
			if values, columns := s.values[:n], s.columns[:n]; n > 0 {
				multiplyAVX2(&q[0], &s.start[0], &columns[0], &values[0], &p[0], len(q))
			}
		},
		reduce: func(r []float64, a float64, q []float64) (sum float64) {
			r = r[:len(q)]
			n := len(q) / atOnce * atOnce
			if n > 0 {
				sum = reduceAVX2(&r[0], a, &q[0], n)
			}
			return sum + reduceRest(r[n:], a, q[n:])
		},
		addTo: func(x []float64, a float64, y []float64) {
			y = y[:len(x)]
			n := len(x) / atOnce * atOnce
			if n > 0 {
				addToAVX2(&x[0], a, &y[0], n)
			}
			addTo(x[n:], a, y[n:])
		},
	}, true
}
