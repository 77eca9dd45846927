// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/goshmem/goshmem/examples/nas/_asm/vector"
)

// coefficients of the series, as its twin has them.
var coefficients = [...]float64{
	0x1.5555555555592p+0,
	0x1.999999997fdb5p-1,
	0x1.24924941f14c8p-1,
	0x1.c71c52093ea28p-2,
	0x1.74663eee3c66cp-2,
	0x1.39a1ba2cbd15ap-2,
	0x1.2f056893034afp-2,
}

const (
	rootHalf = 0x3fe6a09e667f3bcd // the bits of √½
	bias     = 1023               // of exponents
)

// A series is what the logarithm needs.
type series struct {
	*vector.Assembler
	shift, fraction, origin operand.Op // words
	exponent, whole         operand.Op // 2^52, as a word, and 2^52+bias
	ln4                     operand.Op // 2·ln 2
	c                       [len(coefficients)]operand.Op
	one                     reg.VecVirtual
}

func newSeries(a *vector.Assembler) *series {
	s := &series{
		Assembler: a,
		shift:     a.FixedWord("shift", bias<<52-rootHalf),
		fraction:  a.FixedWord("fraction", 1<<52-1),
		origin:    a.FixedWord("origin", rootHalf),
		exponent:  a.FixedWord("exponent", math.Float64bits(1<<52)),
		whole:     a.Fixed("whole", 1<<52+bias),
		ln4:       a.Fixed("ln4", 2*math.Ln2),
		one:       a.Constant(1),
	}
	for i, c := range coefficients {
		s.c[i] = a.Fixed(fmt.Sprint("c", i+1), c)
	}
	return s
}

// factor returns √(−2·ln t / t).
func (a *series) factor(t reg.VecVirtual) reg.VecVirtual {
	d := a.AddWords(a.shift, t)
	z := a.AddWords(a.origin, a.And(a.fraction, d))
	m := a.Sub(z, a.one)
	s := a.divide(m, a.Add(z, a.one))
	a.VADDPD(m, m, m)
	s2 := a.Mul(s, s)
	s4 := a.Mul(s2, s2)
	two := func(i int) reg.VecVirtual { return a.Add(a.c[i], a.Mul(a.c[i+1], s2)) }
	high := a.Add(two(4), a.Mul(a.c[6], s4))
	low := a.Add(two(0), a.Mul(two(2), s4))
	sum := a.Mul(a.Add(low, a.Mul(a.Mul(s4, s4), high)), s2)
	sum = a.Add(m, a.Mul(a.Add(m, sum), s))
	k := a.Sub(a.whole, a.Or(a.exponent, a.Right(52, d))) // exact
	sum = a.divide(a.Sub(a.Mul(a.ln4, k), sum), t)
	a.VSQRTPD(sum, sum)
	return sum
}

// divide returns x / y.
func (a *series) divide(x, y reg.VecVirtual) reg.VecVirtual {
	v := a.New()
	a.VDIVPD(y, x, v)
	return v
}
