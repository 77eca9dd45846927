// SPDX-License-Identifier: BSD-3-Clause

// Cg generates the assembly of examples/nas/cg. What the functions do is said
// there, by their twins in Go, whose bits they give.
package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/goshmem/goshmem/examples/nas/_asm/vector"
)

func main() {
	vector.Main("vectors", func(ctx *build.Context) {
		a := &vector.Assembler{Context: ctx, Lanes: 4, Suffix: "AVX2"}
		multiply(a)
		reduce(a)
		addTo(a)
	})
}

// multiply takes its numbers one by one to where they are needed, in half
// vectors. The instructions that gather a vector are no faster.
func multiply(a *vector.Assembler) {
	a.Function("multiply", "func(q *float64, start *int, columns *uint16, values, p *float64, rows int)",
		"is multiply of so many rows.")
	q, start, columns, values, p := a.Arg("q"), a.Arg("start"), a.Arg("columns"), a.Arg("values"), a.Arg("p")
	rows, k, end := a.Arg("rows"), a.GP64(), a.GP64()
	a.MOVQ(operand.Mem{Base: start}, k)

	a.Label("row")
	a.MOVQ(operand.Mem{Base: start, Disp: 8}, end)
	sums := [2]reg.VecVirtual{a.XMM(), a.XMM()}
	for _, sum := range sums {
		a.VXORPD(sum, sum, sum)
	}
	a.CMPQ(k, end)
	a.JE(operand.LabelRef("rowDone"))
	a.Label("group")
	four := a.GP64() // columns, of two bytes each
	a.MOVQ(operand.Mem{Base: columns, Index: k, Scale: 2}, four)
	for half, sum := range sums {
		pair := a.XMM()
		for i := range 2 {
			column := a.GP32()
			a.MOVWLZX(four.As16(), column)
			at := operand.Mem{Base: p, Index: column.As64(), Scale: 8}
			if i == 0 {
				a.VMOVSD(at, pair)
			} else {
				a.VMOVHPD(at, pair, pair)
			}
			if half+i < 2 {
				a.SHRQ(operand.U8(16), four)
			}
		}
		a.VMULPD(operand.Mem{Base: values, Index: k, Scale: 8, Disp: 16 * half}, pair, pair)
		a.VADDPD(pair, sum, sum)
	}
	a.ADDQ(operand.I8(4), k)
	a.CMPQ(k, end)
	a.JNE(operand.LabelRef("group"))
	a.Label("rowDone")
	total, rest := a.XMM(), a.XMM()
	a.VHADDPD(sums[1], sums[0], total)
	a.VPERMILPD(operand.U8(1), total, rest)
	a.VADDSD(rest, total, total)
	a.VADDSD(operand.Mem{Base: q}, total, total)
	a.VMOVSD(total, operand.Mem{Base: q})
	a.ADDQ(operand.I8(8), q)
	a.ADDQ(operand.I8(8), start)
	a.DECQ(rows)
	a.JNE(operand.LabelRef("row"))
	a.Return()
}

// reduce takes two vectors at a time, each with a sum of its own.
func reduce(a *vector.Assembler) {
	a.Function("reduce", "func(r *float64, a float64, q *float64, n int) float64",
		"is reduce of n elements, a multiple of eight.")
	r, q, n := a.Arg("r"), a.Arg("q"), a.Arg("n")
	factor := a.ArgVector("a")
	sums := [2]reg.VecVirtual{a.New(), a.New()}
	for _, sum := range sums {
		a.VXORPD(sum, sum, sum)
	}
	a.Label("loop")
	for i, sum := range sums {
		at := operand.Mem{Base: r, Disp: i * a.Size()}
		v := a.Sub(a.Mul(operand.Mem{Base: q, Disp: i * a.Size()}, factor), a.Vector(at))
		a.VMOVUPD(v, at)
		a.VADDPD(a.Mul(v, v), sum, sum)
	}
	a.ADDQ(operand.I8(2*a.Size()), r)
	a.ADDQ(operand.I8(2*a.Size()), q)
	a.SUBQ(operand.I8(2*a.Lanes), n)
	a.JNE(operand.LabelRef("loop"))
	both, high := a.Add(sums[1], sums[0]), a.XMM()
	a.VEXTRACTF128(operand.U8(1), both, high)
	total, rest := a.XMM(), a.XMM()
	a.VHADDPD(high, both.AsX(), total)
	a.VPERMILPD(operand.U8(1), total, rest)
	a.VADDSD(rest, total, total)
	a.Store(total, a.ReturnIndex(0))
	a.Return()
}

// addTo takes two vectors at a time.
func addTo(a *vector.Assembler) {
	a.Function("addTo", "func(x *float64, a float64, y *float64, n int)",
		"is addTo of n elements, a multiple of eight.")
	x, y, n := a.Arg("x"), a.Arg("y"), a.Arg("n")
	factor := a.ArgVector("a")
	a.Label("loop")
	for i := range 2 {
		at := operand.Mem{Base: y, Disp: i * a.Size()}
		a.VMOVUPD(a.Add(operand.Mem{Base: x, Disp: i * a.Size()}, a.Mul(at, factor)), at)
	}
	a.ADDQ(operand.I8(2*a.Size()), x)
	a.ADDQ(operand.I8(2*a.Size()), y)
	a.SUBQ(operand.I8(2*a.Lanes), n)
	a.JNE(operand.LabelRef("loop"))
	a.Return()
}
