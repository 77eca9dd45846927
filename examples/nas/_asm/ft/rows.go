// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/goshmem/goshmem/examples/nas/_asm/vector"
)

// walk goes through n elements from the pointer c on, and as many rows, whose
// slices r points to. next is called with where a row has its number x, and the
// element.
func walk(a *vector.Assembler, name, c, r string, next func(row, c operand.Mem)) {
	element0, slices := a.Arg(c), a.Arg(r)
	x, n, row := a.Arg("x"), a.Arg("n"), a.GP64()
	a.SHLQ(operand.U8(4), x)
	a.Label(name + "Row")
	a.MOVQ(operand.Mem{Base: slices}, row)
	a.ADDQ(x, row)
	next(operand.Mem{Base: row}, operand.Mem{Base: element0})
	a.ADDQ(operand.I8(sliceHeader), slices)
	a.ADDQ(operand.I32(element), element0)
	a.DECQ(n)
	a.JNE(operand.LabelRef(name + "Row"))
	a.Return()
}

// take returns the real and imaginary parts of as many complex numbers as make
// two vectors, from row on.
func take(a *vector.Assembler, row operand.Mem) (re, im reg.VecVirtual) {
	rest := row
	rest.Disp += a.Size()
	return a.Split(a.Vector(row), a.Vector(rest))
}

// put is take the other way round. It spoils the parts.
func put(a *vector.Assembler, re, im reg.VecVirtual, row operand.Mem) {
	v, w := a.Join(re, im)
	a.VMOVUPD(v, row)
	row.Disp += a.Size()
	a.VMOVUPD(w, row)
}

func load(a *vector.Assembler) {
	a.Function("load", "func(to *float64, from *[]complex128, x, n int)", "is load of n rows.")
	walk(a, "load", "to", "from", func(row, c operand.Mem) {
		for _, offset := range offsets(a) {
			re, im := take(a, row)
			a.VMOVUPD(re, part(c, 0, offset))
			a.VMOVUPD(im, part(c, 1, offset))
			row.Disp += 2 * a.Size()
		}
	})
}

func store(a *vector.Assembler) {
	a.Function("store", "func(to *[]complex128, from *float64, x, n int)", "is store of n rows.")
	walk(a, "store", "from", "to", func(row, c operand.Mem) {
		for _, offset := range offsets(a) {
			put(a, a.Vector(part(c, 0, offset)), a.Vector(part(c, 1, offset)), row)
			row.Disp += 2 * a.Size()
		}
	})
}

func evolve(a *vector.Assembler) {
	a.Function("evolve", "func(to *float64, r *[]complex128, x, n int, ofColumn, ofRow *float64, ofAll float64)",
		"is evolve of n rows. OfColumn is the factor of column x.")
	ofColumn, ofRow := a.Arg("ofColumn"), a.Arg("ofRow")
	ofAll := a.ArgVector("ofAll")
	minus := a.Constant(-1)
	walk(a, "evolve", "to", "r", func(row, c operand.Mem) {
		factor := a.Mul(ofAll, a.Broadcast(operand.Mem{Base: ofRow}))
		for _, offset := range offsets(a) {
			f := a.Mul(operand.Mem{Base: ofColumn, Disp: offset}, factor)
			re, im := take(a, row)
			conjugate := a.Mul(a.Mul(f, minus), im)
			re, im = a.Mul(f, re), a.Mul(f, im)
			a.VMOVUPD(re, part(c, 0, offset))
			a.VMOVUPD(conjugate, part(c, 1, offset))
			put(a, re, im, row)
			row.Disp += 2 * a.Size()
		}
		a.ADDQ(operand.I8(8), ofRow)
	})
}

// across goes through n elements from the pointer c on, and as many numbers of
// each row, whose slices r points to, as many rows and parts of numbers at a
// time as a vector has lanes. move is called with where the rows have these
// numbers, and where the elements have them.
func across(a *vector.Assembler, name, c, r string, move func(rows, columns []operand.Mem)) {
	for _, offset := range offsets(a) {
		label := name + string(rune('A'+offset/a.Size()))
		slices, element0 := a.Arg(r), a.Arg(c)
		i, end := a.GP64(), a.Arg("n")
		a.SHLQ(operand.U8(4), end)
		a.XORQ(i, i)
		rows, columns := make([]operand.Mem, a.Lanes), make([]operand.Mem, a.Lanes)
		for k := range a.Lanes {
			row := a.GP64()
			a.MOVQ(operand.Mem{Base: slices, Disp: (offset/8 + k) * sliceHeader}, row)
			rows[k] = operand.Mem{Base: row, Index: i, Scale: 1}
			columns[k] = part(operand.Mem{Base: element0, Disp: k / 2 * element}, k%2, offset)
		}
		a.Label(label)
		move(rows, columns)
		a.ADDQ(operand.I32(a.Lanes/2*element), element0)
		a.ADDQ(operand.I32(a.Size()), i)
		a.CMPQ(i, end)
		a.JNE(operand.LabelRef(label))
	}
	a.Return()
}

// transpose moves a square of numbers.
func transpose(a *vector.Assembler, to, from []operand.Mem) {
	vectors := make([]reg.VecVirtual, len(from))
	for i, m := range from {
		vectors[i] = a.Vector(m)
	}
	for i, v := range a.Transpose(vectors) {
		a.VMOVUPD(v, to[i])
	}
}

func loadAcross(a *vector.Assembler) {
	a.Function("loadAcross", "func(to *float64, from *[]complex128, n int)", "is loadAcross of rows of n numbers.")
	across(a, "loadAcross", "to", "from", func(rows, columns []operand.Mem) { transpose(a, columns, rows) })
}

func storeAcross(a *vector.Assembler) {
	a.Function("storeAcross", "func(to *[]complex128, from *float64, n int)", "is storeAcross of rows of n numbers.")
	across(a, "storeAcross", "from", "to", func(rows, columns []operand.Mem) { transpose(a, rows, columns) })
}
