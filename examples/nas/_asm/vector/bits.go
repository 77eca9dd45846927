// SPDX-License-Identifier: BSD-3-Clause

package vector

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// And returns the bits that x and y share. x may be in memory.
func (a *Assembler) And(x operand.Op, y reg.VecVirtual) reg.VecVirtual {
	v := a.New()
	if a.Lanes == 8 {
		a.VPANDQ(x, y, v)
	} else {
		a.VPAND(x, y, v)
	}
	return v
}

// Or returns the bits of x and y together. x may be in memory.
func (a *Assembler) Or(x operand.Op, y reg.VecVirtual) reg.VecVirtual {
	v := a.New()
	if a.Lanes == 8 {
		a.VPORQ(x, y, v)
	} else {
		a.VPOR(x, y, v)
	}
	return v
}

// AddWords returns x + y, whole numbers. x may be in memory.
func (a *Assembler) AddWords(x operand.Op, y reg.VecVirtual) reg.VecVirtual {
	v := a.New()
	a.VPADDQ(x, y, v)
	return v
}

// MulHalves returns the products of the lower 32 bits of x and of y. x may be in
// memory.
func (a *Assembler) MulHalves(x operand.Op, y reg.VecVirtual) reg.VecVirtual {
	v := a.New()
	a.VPMULUDQ(x, y, v)
	return v
}

// Left returns v's words shifted by n bits.
func (a *Assembler) Left(n uint8, v reg.VecVirtual) reg.VecVirtual {
	shifted := a.New()
	a.VPSLLQ(operand.U8(n), v, shifted)
	return shifted
}

// Right returns v's words shifted by n bits, without sign.
func (a *Assembler) Right(n uint8, v reg.VecVirtual) reg.VecVirtual {
	shifted := a.New()
	a.VPSRLQ(operand.U8(n), v, shifted)
	return shifted
}

// Integers returns v's numbers as words, without their fractions. They are not
// negative and below 2^31.
func (a *Assembler) Integers(v reg.VecVirtual) reg.VecVirtual {
	words := a.New()
	if a.Lanes == 8 {
		a.VCVTTPD2DQ(v, words.AsY())
		a.VPMOVZXDQ(words.AsY(), words)
	} else {
		a.VCVTTPD2DQY(v, words.AsX())
		a.VPMOVZXDQ(words.AsX(), words)
	}
	return words
}

// Zero returns a vector of zeros.
func (a *Assembler) Zero() reg.VecVirtual {
	v := a.New()
	if a.Lanes == 8 {
		a.VPXORQ(v, v, v)
	} else {
		a.VPXOR(v, v, v)
	}
	return v
}
