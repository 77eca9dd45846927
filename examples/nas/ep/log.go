// SPDX-License-Identifier: BSD-3-Clause

package main

import "math"

// A logTable approximates the natural logarithm by a table and a polynomial
// (Tang 1990). A number is split into z·2^k with z in [11/16, 11/8), and that
// range into 128 intervals; in each, log z = log c + log(1+r) for a point c of
// the interval and r = (z−c)/c, |r| < 2^-7. z−c is exact, as both lie within a
// factor of two.
type logTable [128]struct {
	c       float64 // the interval's middle, but for those at 1
	inverse float64 // 1/c
	log     float64 // log c
}

const (
	logOrigin  = 0x3fe6 << 48 // the bits of 11/16, where the intervals start
	logSpacing = 1 << 45      // between two intervals, in bits of the number
)

func newLogTable() *logTable {
	t := new(logTable)
	for i := range t {
		low := math.Float64frombits(logOrigin + uint64(i)*logSpacing)
		high := math.Float64frombits(logOrigin + uint64(i+1)*logSpacing)
		c := (low + high) / 2
		if low == 1 || high == 1 {
			c = 1 // so that nothing cancels where log z goes through zero
		}
		t[i].c, t[i].inverse, t[i].log = c, 1/c, math.Log(c)
	}
	return t
}

// log returns the natural logarithm of x, a positive normal number, to within
// 2^-51 of the larger of 1 and its size. It is inlined, and short enough for
// several to overlap.
func (t *logTable) log(x float64) float64 {
	bits := math.Float64bits(x)
	d := bits - logOrigin
	k := int64(d) >> 52
	e := &t[d/logSpacing%128]
	z := math.Float64frombits(bits - uint64(k)<<52)
	r := (z - e.c) * e.inverse
	r2 := r * r
	series := r + r2*(-1./2+r*(1./3)+r2*(-1./4+r*(1./5)+r2*(-1./6+r*(1./7))))
	return float64(k)*math.Ln2 + (e.log + series)
}
