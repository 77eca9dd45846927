// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"math/big"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// The square is as near as squares says, all over the disc: in its middle, on both
// sides of where k changes, and at its edge, where the logarithm goes through zero.
func TestSquares_NearTheDefinition(t *testing.T) {
	b := new(block)
	check := func(x, y float64) {
		b.x[0], b.y[0] = x, y
		b.squares(b.factor[:1])
		r := x*x + y*y
		want := precise().Quo(ln(r), precise().SetFloat64(-r/2))
		off, _ := precise().Quo(precise().Sub(precise().SetFloat64(b.factor[0]), want), want).Float64()
		if math.Abs(off) > 0x1p-51 {
			t.Errorf("the square for x=%x, y=%x is %v, off by %v of its size", x, y, b.factor[0], off)
		}
	}
	stream := nas.Random(seed)
	for range 1000 {
		x := stream.Next()
		check(x, 0)
		check(x*0x1p-30, x*0x1p-33)
		check(0, 1-x*0x1p-10)
		check(math.Sqrt((1+x*0x1p-8)/2), 0)
		check(math.Sqrt((1-x*0x1p-8)/2), 0)
	}
	for e := 1; e <= 53; e++ {
		check(1-math.Ldexp(1, -e), 0)
		check(0, math.Ldexp(1, -e))
	}

	b.x[0], b.y[0] = 0, -1
	if b.squares(b.factor[:1]); b.factor[0] != 0 {
		t.Errorf("the square on the circle is %v, want 0", b.factor[0])
	}
}

// ln returns the natural logarithm of x, to twice the precision.
func ln(x float64) *big.Float {
	z, k := math.Frexp(x)
	two := precise().Mul(artanh(precise().SetFloat64(1), precise().SetFloat64(3)), precise().SetInt64(int64(2*k)))
	m := artanh(precise().Sub(precise().SetFloat64(z), precise().SetInt64(1)), precise().Add(precise().SetFloat64(z), precise().SetInt64(1)))
	return two.Add(two, m.Add(m, m))
}

// artanh returns the inverse hyperbolic tangent of a/b, at most a third in size, by
// its series.
func artanh(a, b *big.Float) *big.Float {
	power := precise().Quo(a, b)
	square := precise().Mul(power, power)
	sum := precise()
	for i := range int64(36) { // a third to the 73rd is below 2^-115
		sum.Add(sum, precise().Quo(power, precise().SetInt64(2*i+1)))
		power.Mul(power, square)
	}
	return sum
}

func precise() *big.Float { return new(big.Float).SetPrec(160) }
