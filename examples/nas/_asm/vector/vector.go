// SPDX-License-Identifier: BSD-3-Clause

// Package vector writes one algorithm for vectors of both widths: four numbers
// of AVX2, eight of AVX-512. Instructions that both have are those of the
// embedded context; what they do differently has a method here.
package vector

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	bytes = 8 // the size of a number
	avx2  = "AVX2"
)

// An Assembler writes functions of one width.
type Assembler struct {
	*build.Context
	Lanes  int    // numbers in a vector
	Suffix string // of functions' names

	tables map[string]operand.Mem // by name
}

// Both calls write for either width; the functions' names end in AVX2 and AVX512.
func Both(ctx *build.Context, write func(a *Assembler)) {
	tables := make(map[string]operand.Mem)
	write(&Assembler{Context: ctx, Lanes: 4, Suffix: avx2, tables: tables})
	write(&Assembler{Context: ctx, Lanes: 8, Suffix: "AVX512", tables: tables})
}

// table returns where these words are. It stores them when a name is new.
func (a *Assembler) table(name string, words ...uint64) operand.Mem {
	if m, ok := a.tables[name]; ok {
		return m
	}
	if a.tables == nil {
		a.tables = make(map[string]operand.Mem)
	}
	m := a.StaticGlobal(name)
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, word := range words {
		a.AddDatum(i*bytes, operand.U64(word))
	}
	a.tables[name] = m
	return m
}

// Size is the size of a vector in bytes.
func (a *Assembler) Size() int { return a.Lanes * bytes }

// Function begins a function, whose pointers do not escape. Doc follows its name
// in the comment.
func (a *Assembler) Function(name, signature string, doc ...string) {
	a.Context.Function(name + a.Suffix)
	a.Attributes(attr.NOSPLIT)
	a.SignatureExpr(signature)
	doc[0] = name + a.Suffix + " " + doc[0]
	a.Doc(doc...)
	a.Pragma("noescape")
}

// Return ends a function. Upper halves that were left dirty would slow down all
// floating-point code that follows.
func (a *Assembler) Return() {
	a.VZEROUPPER()
	a.RET()
}

// New returns a register for a vector.
func (a *Assembler) New() reg.VecVirtual {
	if a.Lanes == 8 {
		return a.ZMM()
	}
	return a.YMM()
}

// Arg returns a register with the parameter of this name.
func (a *Assembler) Arg(name string) reg.Register {
	return a.Load(a.Param(name), a.GP64())
}

// Constant returns a vector of x.
func (a *Assembler) Constant(x float64) reg.VecVirtual { return a.Word(math.Float64bits(x)) }

// Word returns a vector of this word.
func (a *Assembler) Word(word uint64) reg.VecVirtual {
	bits := a.GP64()
	a.MOVQ(operand.U64(word), bits)
	low, v := a.XMM(), a.New()
	a.VMOVQ(bits, low)
	a.VBROADCASTSD(low, v)
	return v
}

// ArgVector returns a vector of the parameter of this name, a number.
func (a *Assembler) ArgVector(name string) reg.VecVirtual {
	low, v := a.XMM(), a.New()
	a.Load(a.Param(name), low)
	a.VBROADCASTSD(low, v)
	return v
}

// Broadcast returns a vector of the number at m.
func (a *Assembler) Broadcast(m operand.Mem) reg.VecVirtual {
	v := a.New()
	a.VBROADCASTSD(m, v)
	return v
}

// Vector returns the vector at m.
func (a *Assembler) Vector(m operand.Mem) reg.VecVirtual {
	v := a.New()
	a.VMOVUPD(m, v)
	return v
}

// Add returns x + y. x may be in memory.
func (a *Assembler) Add(x operand.Op, y reg.VecVirtual) reg.VecVirtual {
	v := a.New()
	a.VADDPD(x, y, v)
	return v
}

// Mul returns x · y. x may be in memory.
func (a *Assembler) Mul(x operand.Op, y reg.VecVirtual) reg.VecVirtual {
	v := a.New()
	a.VMULPD(x, y, v)
	return v
}

// FromLeft returns v with each number moved to the lane after its own; what
// comes into the first lane is the last of what is to v's left.
func (a *Assembler) FromLeft(left, v reg.VecVirtual) reg.VecVirtual {
	moved := a.New()
	if a.Lanes == 8 {
		a.VALIGNQ(operand.U8(7), left, v, moved)
		return moved
	}
	a.VPERM2F128(operand.U8(0x21), v, left, moved) // left's upper half, v's lower
	a.VSHUFPD(operand.U8(0b0101), v, moved, moved)
	return moved
}

// FromRight returns v with each number moved to the lane before its own; what
// comes into the last lane is the first of what is to v's right.
func (a *Assembler) FromRight(v, right reg.VecVirtual) reg.VecVirtual {
	moved := a.New()
	if a.Lanes == 8 {
		a.VALIGNQ(operand.U8(1), v, right, moved)
		return moved
	}
	a.VPERM2F128(operand.U8(0x21), right, v, moved) // v's upper half, right's lower
	a.VSHUFPD(operand.U8(0b0101), moved, v, moved)
	return moved
}

// Split takes two vectors, one the continuation of the other, apart into every
// other number from the first on, and every other from the second on.
func (a *Assembler) Split(v, w reg.VecVirtual) (first, second reg.VecVirtual) {
	first, second = a.New(), a.New()
	a.VUNPCKLPD(w, v, first)
	a.VUNPCKHPD(w, v, second)
	for _, mixed := range []reg.VecVirtual{first, second} {
		if a.Lanes == 8 {
			a.VPERMPD(mixed, a.Vector(a.table("evensFirst", 0, 2, 4, 6, 1, 3, 5, 7)), mixed)
		} else {
			a.VPERMPD(operand.U8(0b11011000), mixed, mixed)
		}
	}
	return first, second
}

// Join is Split the other way round. It spoils its operands.
func (a *Assembler) Join(first, second reg.VecVirtual) (v, w reg.VecVirtual) {
	for _, ordered := range []reg.VecVirtual{first, second} {
		if a.Lanes == 8 {
			a.VPERMPD(ordered, a.Vector(a.table("halvesMixed", 0, 4, 1, 5, 2, 6, 3, 7)), ordered)
		} else {
			a.VPERMPD(operand.U8(0b11011000), ordered, ordered)
		}
	}
	v, w = a.New(), a.New()
	a.VUNPCKLPD(second, first, v)
	a.VUNPCKHPD(second, first, w)
	return v, w
}

// Sub returns y − x. x may be in memory.
func (a *Assembler) Sub(x operand.Op, y reg.VecVirtual) reg.VecVirtual {
	v := a.New()
	a.VSUBPD(x, y, v)
	return v
}

// Transpose returns the columns of the square matrix whose rows these vectors are.
func (a *Assembler) Transpose(rows []reg.VecVirtual) []reg.VecVirtual {
	pairs := make([]reg.VecVirtual, a.Lanes) // numbers of two rows, from every second column
	for i := 0; i < a.Lanes; i += 2 {
		pairs[i], pairs[i+1] = a.New(), a.New()
		a.VUNPCKLPD(rows[i+1], rows[i], pairs[i])
		a.VUNPCKHPD(rows[i+1], rows[i], pairs[i+1])
	}
	columns := make([]reg.VecVirtual, a.Lanes)
	for odd := range 2 {
		if a.Lanes == 4 {
			columns[odd], columns[odd+2] = a.New(), a.New()
			a.VPERM2F128(operand.U8(0x20), pairs[odd+2], pairs[odd], columns[odd])
			a.VPERM2F128(operand.U8(0x31), pairs[odd+2], pairs[odd], columns[odd+2])
			continue
		}
		// By pairs of numbers, 0 to 3, first and third or second and fourth of two vectors.
		first02, first13 := a.everyOther(pairs[odd], pairs[odd+2])
		last02, last13 := a.everyOther(pairs[odd+4], pairs[odd+6])
		columns[odd], columns[odd+4] = a.everyOther(first02, last02)
		columns[odd+2], columns[odd+6] = a.everyOther(first13, last13)
	}
	return columns
}

// everyOther returns the first and third pairs of numbers of v and of w, and the
// second and fourth of both.
func (a *Assembler) everyOther(v, w reg.VecVirtual) (even, odd reg.VecVirtual) {
	even, odd = a.New(), a.New()
	a.VSHUFF64X2(operand.U8(0b10001000), w, v, even)
	a.VSHUFF64X2(operand.U8(0b11011101), w, v, odd)
	return even, odd
}
