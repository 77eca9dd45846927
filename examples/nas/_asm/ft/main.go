// SPDX-License-Identifier: BSD-3-Clause

// Ft generates the assembly of examples/nas/ft. What the functions do is said
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
		vector.Both(ctx, func(a *vector.Assembler) {
			pass4(a)
			last4(a)
			last2(a)
			load(a)
			store(a)
			evolve(a)
			loadAcross(a)
			storeAcross(a)
		})
	})
}

// An element of columns is the real parts of these numbers, and their imaginary
// parts.
const (
	lanes   = 16
	parts   = lanes * 8 // bytes of either
	element = 2 * parts
)

const (
	sliceHeader = 24 // bytes
	rootsSize   = 48 // bytes: three real parts, three imaginary ones
)

// part moves m to a vector of the real parts of its element, 0, or the imaginary
// ones, 1.
func part(m operand.Mem, which, offset int) operand.Mem {
	m.Disp += which*parts + offset
	return m
}

// quarters returns where four elements are that lie so many bytes apart.
func quarters(a *vector.Assembler, base, distance reg.Register) [4]operand.Mem {
	thrice := a.GP64()
	a.LEAQ(operand.Mem{Base: distance, Index: distance, Scale: 2}, thrice)
	return [4]operand.Mem{
		{Base: base},
		{Base: base, Index: distance, Scale: 1},
		{Base: base, Index: distance, Scale: 2},
		{Base: base, Index: thrice, Scale: 1},
	}
}

// butterfly combines vectors at x to vectors at y, offset bytes from the first
// real part. root returns the k-th factor; there are none if it is nil.
func butterfly(a *vector.Assembler, y, x [4]operand.Mem, offset int, root func(k int) (re, im reg.VecVirtual)) {
	var sum, dif, sumOdd, difOdd [2]reg.VecVirtual
	for i := range 2 {
		x0, x1 := a.Vector(part(x[0], i, offset)), a.Vector(part(x[1], i, offset))
		x2, x3 := part(x[2], i, offset), part(x[3], i, offset)
		sum[i], dif[i] = a.Add(x2, x0), a.Sub(x2, x0)
		sumOdd[i], difOdd[i] = a.Add(x3, x1), a.Sub(x3, x1)
	}
	put := func(k int, re, im reg.VecVirtual) {
		if root != nil && k > 0 {
			wRe, wIm := root(k - 1)
			re, im = a.Sub(a.Mul(im, wIm), a.Mul(re, wRe)), a.Add(a.Mul(im, wRe), a.Mul(re, wIm))
		}
		a.VMOVUPD(re, part(y[k], 0, offset))
		a.VMOVUPD(im, part(y[k], 1, offset))
	}
	put(0, a.Add(sumOdd[0], sum[0]), a.Add(sumOdd[1], sum[1]))
	put(1, a.Add(difOdd[1], dif[0]), a.Sub(difOdd[0], dif[1]))
	put(2, a.Sub(sumOdd[0], sum[0]), a.Sub(sumOdd[1], sum[1]))
	put(3, a.Sub(difOdd[1], dif[0]), a.Add(difOdd[0], dif[1]))
}

// offsets are those of an element's vectors of real parts.
func offsets(a *vector.Assembler) (all []int) {
	for i := 0; i < parts; i += a.Size() {
		all = append(all, i)
	}
	return all
}

func pass4(a *vector.Assembler) {
	a.Function("pass4", "func(y, x *float64, stride, quarter, n int, pass *float64)",
		"is pass4 with n different roots. A quarter of the elements is quarter.")
	y, x := a.Arg("y"), a.Arg("x")
	stride, quarter := a.Arg("stride"), a.Arg("quarter")
	n, w, end := a.Arg("n"), a.Arg("pass"), a.GP64()
	a.SHLQ(operand.U8(8), stride)
	a.SHLQ(operand.U8(8), quarter)
	from, to := quarters(a, x, quarter), quarters(a, y, stride)
	load := func(k int) (re, im reg.VecVirtual) {
		return a.Broadcast(operand.Mem{Base: w, Disp: 8 * k}), a.Broadcast(operand.Mem{Base: w, Disp: 8*k + rootsSize/2})
	}
	root := load

	a.Label("pass4Root")
	if a.Lanes == 8 { // there are registers enough to keep them
		var kept [3][2]reg.VecVirtual
		for k := range kept {
			kept[k][0], kept[k][1] = load(k)
		}
		root = func(k int) (re, im reg.VecVirtual) { return kept[k][0], kept[k][1] }
	}
	a.LEAQ(operand.Mem{Base: x, Index: stride, Scale: 1}, end)
	a.Label("pass4Element")
	for _, offset := range offsets(a) {
		butterfly(a, to, from, offset, root)
	}
	a.ADDQ(operand.I32(element), x)
	a.ADDQ(operand.I32(element), y)
	a.CMPQ(x, end)
	a.JNE(operand.LabelRef("pass4Element"))
	a.ADDQ(to[3].Index, y)
	a.ADDQ(operand.I8(rootsSize), w)
	a.DECQ(n)
	a.JNE(operand.LabelRef("pass4Root"))
	a.Return()
}

func last4(a *vector.Assembler) {
	a.Function("last4", "func(y, x *float64, quarter int)", "is last4 of four times quarter elements.")
	y, x := a.Arg("y"), a.Arg("x")
	n, quarter := a.Arg("quarter"), a.GP64()
	a.MOVQ(n, quarter)
	a.SHLQ(operand.U8(8), quarter)
	from, to := quarters(a, x, quarter), quarters(a, y, quarter)
	a.Label("last4Element")
	for _, offset := range offsets(a) {
		butterfly(a, to, from, offset, nil)
	}
	a.ADDQ(operand.I32(element), x)
	a.ADDQ(operand.I32(element), y)
	a.DECQ(n)
	a.JNE(operand.LabelRef("last4Element"))
	a.Return()
}

func last2(a *vector.Assembler) {
	a.Function("last2", "func(y, x *float64, half int)", "is last2 of twice half elements.")
	y, x := a.Arg("y"), a.Arg("x")
	n, half := a.Arg("half"), a.GP64()
	a.MOVQ(n, half)
	a.SHLQ(operand.U8(8), half)
	a.Label("last2Element")
	for which := range 2 {
		for _, offset := range offsets(a) {
			x0 := a.Vector(part(operand.Mem{Base: x}, which, offset))
			x1 := part(operand.Mem{Base: x, Index: half, Scale: 1}, which, offset)
			a.VMOVUPD(a.Add(x1, x0), part(operand.Mem{Base: y}, which, offset))
			a.VMOVUPD(a.Sub(x1, x0), part(operand.Mem{Base: y, Index: half, Scale: 1}, which, offset))
		}
	}
	a.ADDQ(operand.I32(element), x)
	a.ADDQ(operand.I32(element), y)
	a.DECQ(n)
	a.JNE(operand.LabelRef("last2Element"))
	a.Return()
}
