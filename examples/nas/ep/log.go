// SPDX-License-Identifier: BSD-3-Clause

package main

import "math"

// A number t is split into z·2^k with z in [√½, √2). With m = 1−z, which is exact,
// and s = m/(1+z),
//
//	−2·ln t = 4·artanh s − 2k·ln 2 = 2m + s·(2m + c1·s² + c2·s⁴ + … + c7·s¹⁴) − 2k·ln 2
//
// as 4s is 2m + 2m·s. What is rounded of s counts for little beside 2m. The polynomial
// is off by at most 2^-58 of the logarithm, as little as one of its degree can be
// (Remez 1934), but for the rounding of the coefficients.
const (
	rootHalf = 0x3fe6a09e667f3bcd // the bits of √½
	bias     = 1023               // of exponents

	c1 = 0x1.5555555555592p+0
	c2 = 0x1.999999997fdb5p-1
	c3 = 0x1.24924941f14c8p-1
	c4 = 0x1.c71c52093ea28p-2
	c5 = 0x1.74663eee3c66cp-2
	c6 = 0x1.39a1ba2cbd15ap-2
	c7 = 0x1.2f056893034afp-2
)

// squares sets each element of f to −2·ln t / t, where t = x²+y² is a normal number
// up to 1. They are within 2^-51 of their size. No product is fused with an addition,
// so every machine has the same bits.
func (b *block) squares(f []float64) {
	xs, ys, ss := b.x[:len(f)], b.y[:len(f)], b.s[:len(f)]
	for i, x := range xs {
		t := float64(x*x) + float64(ys[i]*ys[i])
		_, z := split(t)
		f[i], ss[i] = t, (1-z)/(1+z)
	}
	for i, t := range f {
		k, z := split(t)
		m2, s := 2-(z+z), ss[i]
		s2 := float64(s * s)
		s4 := float64(s2 * s2)
		low := (c1 + float64(c2*s2)) + float64((c3+float64(c4*s2))*s4)
		high := (c5 + float64(c6*s2)) + float64(c7*s4)
		series := float64((low + float64(high*float64(s4*s4))) * s2)
		f[i] = (m2 + float64(s*(m2+series)) - float64(k*(2*math.Ln2))) / t
	}
}

// split returns k and z of t.
func split(t float64) (k, z float64) {
	d := math.Float64bits(t) + (bias<<52 - rootHalf)
	return float64(int64(d>>52) - bias), math.Float64frombits(d&(1<<52-1) + rootHalf)
}
