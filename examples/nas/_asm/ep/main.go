// SPDX-License-Identifier: BSD-3-Clause

// Ep generates the assembly of examples/nas/ep. What the functions do is said
// there, by their twins in Go, whose bits they give.
package main

import (
	"math"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/goshmem/goshmem/examples/nas/_asm/vector"
)

// atOnce is how many points the functions work on at a time.
const atOnce = 8

func main() {
	vector.Main("vectors", func(ctx *build.Context) {
		vector.Both(ctx, func(a *vector.Assembler) {
			draw(a)
			transform(a)
		})
	})
}

// The generator of random numbers is x ← multiplier·x mod 2^46.
const (
	multiplier = 1220703125
	stateMask  = 1<<46 - 1
)

// draw has in each lane a chain of multiplications of its own.
func draw(a *vector.Assembler) {
	a.Function("draw", "func(x, y *float64, states *[8]uint64, pairs int) int",
		"is draw of so many pairs, a multiple of eight. States are those after the",
		"first draw of each of the first eight.")
	x, y, pairs := a.Arg("x"), a.Arg("y"), a.Arg("pairs")
	u := a.Vector(operand.Mem{Base: a.Arg("states")})
	jump := uint64(1) // as many draws as all lanes make
	for range 2 * a.Lanes {
		jump = jump * multiplier & stateMask
	}
	next := a.FixedWord("multiplier", multiplier)
	low, high := a.FixedWord("jump", jump), a.FixedWord("jumpHigh", jump>>32)
	two, three, one := a.FixedWord("two", math.Float64bits(2)), a.Fixed("three", 3), a.Constant(1)
	symmetric := func(state reg.VecVirtual) reg.VecVirtual {
		return a.Sub(three, a.Or(two, a.Right(12, a.Left(18, state))))
	}
	n := a.GP64()
	a.XORQ(n, n)

	a.Label("draw")
	upper := a.Right(32, u)
	v := a.AddWords(a.Left(32, a.MulHalves(next, upper)), a.MulHalves(next, u))
	px, py := symmetric(u), symmetric(v)
	cross := a.AddWords(a.MulHalves(low, upper), a.MulHalves(high, u))
	a.VPADDQ(a.Left(32, cross), a.MulHalves(low, u), u)
	kept := a.AtMost(a.Add(a.Mul(px, px), a.Mul(py, py)), one)
	a.VMOVUPD(a.Pack(kept, px), operand.Mem{Base: x, Index: n, Scale: 8})
	a.VMOVUPD(a.Pack(kept, py), operand.Mem{Base: y, Index: n, Scale: 8})
	a.ADDQ(kept.Count, n)
	a.SUBQ(operand.I8(a.Lanes), pairs)
	a.JNE(operand.LabelRef("draw"))
	a.Store(n, a.ReturnIndex(0))
	a.Return()
}

// transform counts in bytes: the word of a lane has one for each annulus up to
// the eighth. A count of those further out is shifted out of its word.
func transform(a *vector.Assembler) {
	a.Function("transform", "func(x, y *float64, n int, sums *[2][8]float64, counts *[8]uint64)",
		"is transform of n points, a multiple of eight up to 1024. Each byte of counts",
		"becomes the number of pairs in an annulus; those from the ninth on are not counted.")
	x, y, n := a.Arg("x"), a.Arg("y"), a.Arg("n")
	s := newSeries(a)
	absolute, unit := a.FixedWord("absolute", 1<<63-1), a.FixedWord("unit", 1)
	groups := atOnce / a.Lanes
	sumX, sumY, counts := make([]reg.VecVirtual, groups), make([]reg.VecVirtual, groups), make([]reg.VecVirtual, groups)
	for i := range groups {
		sumX[i], sumY[i], counts[i] = a.Zero(), a.Zero(), a.Zero()
	}

	a.Label("transform")
	for i := range groups {
		px, py := operand.Mem{Base: x, Disp: i * a.Size()}, operand.Mem{Base: y, Disp: i * a.Size()}
		vx, vy := a.Vector(px), a.Vector(py)
		f := s.factor(a.Add(a.Mul(vx, vx), a.Mul(vy, vy)))
		gx, gy := a.Mul(px, f), a.Mul(py, f)
		a.VADDPD(gx, sumX[i], sumX[i])
		a.VADDPD(gy, sumY[i], sumY[i])
		larger := a.New()
		a.VMAXPD(a.And(absolute, gx), a.And(absolute, gy), larger)
		shift := a.Left(3, a.Integers(larger))
		one := a.New()
		a.VPSLLVQ(shift, a.Loaded(unit), one)
		a.VPADDQ(one, counts[i], counts[i])
	}
	a.ADDQ(operand.I32(atOnce*8), x)
	a.ADDQ(operand.I32(atOnce*8), y)
	a.SUBQ(operand.I8(atOnce), n)
	a.JNE(operand.LabelRef("transform"))
	toSums, toCounts := a.Arg("sums"), a.Arg("counts")
	for i := range groups {
		a.VMOVUPD(sumX[i], operand.Mem{Base: toSums, Disp: i * a.Size()})
		a.VMOVUPD(sumY[i], operand.Mem{Base: toSums, Disp: atOnce*8 + i*a.Size()})
		a.VMOVUPD(counts[i], operand.Mem{Base: toCounts, Disp: i * a.Size()})
	}
	a.Return()
}
