// SPDX-License-Identifier: BSD-3-Clause

package main

// The work on dense vectors, without communication. Vectors of one call are
// equally long, unless it says otherwise.

// dot returns the scalar product of x and y.
func dot(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	y = y[:len(x)]
	for i, v := range x {
		s0 += v * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// distance2 returns the square of the norm of x - y.
func distance2(x, y []float64) float64 {
	y = y[:len(x)]
	sum := 0.0
	for i, v := range x {
		d := v - y[i]
		sum += d * d
	}
	return sum
}

// add adds a·x to y.
func add(y []float64, a float64, x []float64) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] += a * v
	}
}

// scale makes y = a·x.
func scale(y, x []float64, a float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = a * v
	}
}
