// SPDX-License-Identifier: BSD-3-Clause

//go:build !purego

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

// forms returns the forms beside Go that the product has been written in.
func forms() []nas.Form { return []nas.Form{nas.AVX2} }

// vectorProduct returns the product in a vector form.
func vectorProduct(form nas.Form) (p product, ok bool) {
	if form != nas.AVX2 {
		return nil, false
	}
	return func(s *stripe, q []float64, p *[width]float64) {
		n := s.start[len(q)] // the assembly checks nothing
		if values, columns := s.values[:n], s.columns[:n]; n > 0 {
			multiplyAVX2(&q[0], &s.start[0], &columns[0], &values[0], &p[0], len(q))
		}
	}, true
}
