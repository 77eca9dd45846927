// SPDX-License-Identifier: BSD-3-Clause

package main

// A product adds the product of a stripe and its part of p to q. All of its
// forms give the same bits.
type product func(s *stripe, q []float64, p *[width]float64)

func multiply(s *stripe, q []float64, p *[width]float64) {
	for i := range q {
		lo, hi := s.start[i], s.start[i+1]
		q[i] += gatherDot(s.values[lo:hi], s.columns[lo:hi], p)
	}
}

// gatherDot returns the scalar product of values and the elements of p at
// columns, as many, in whole groups. Four sums take turns, for an addition not to
// wait for the one before.
func gatherDot(values []float64, columns []uint16, p *[width]float64) float64 {
	var s0, s1, s2, s3 float64
	columns = columns[:len(values)]
	i := 0
	for ; i <= len(values)-2*group; i += 2 * group {
		v, c := values[i:i+2*group:i+2*group], columns[i:i+2*group:i+2*group]
		s0 += v[0] * p[c[0]]
		s1 += v[1] * p[c[1]]
		s2 += v[2] * p[c[2]]
		s3 += v[3] * p[c[3]]
		s0 += v[4] * p[c[4]]
		s1 += v[5] * p[c[5]]
		s2 += v[6] * p[c[6]]
		s3 += v[7] * p[c[7]]
	}
	if i < len(values) {
		v, c := values[i:i+group:i+group], columns[i:i+group:i+group]
		s0 += v[0] * p[c[0]]
		s1 += v[1] * p[c[1]]
		s2 += v[2] * p[c[2]]
		s3 += v[3] * p[c[3]]
	}
	return (s0 + s1) + (s2 + s3)
}
