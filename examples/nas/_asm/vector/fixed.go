// SPDX-License-Identifier: BSD-3-Clause

package vector

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Fixed returns a vector of x for instructions that may have one of their
// operands in memory: AVX2's registers are too few for many of them.
func (a *Assembler) Fixed(name string, x float64) operand.Op {
	return a.FixedWord(name, math.Float64bits(x))
}

// FixedWord returns a vector of this word as Fixed does.
func (a *Assembler) FixedWord(name string, word uint64) operand.Op {
	if a.Lanes == 8 {
		return a.Word(word)
	}
	return a.table(name, word, word, word, word)
}

// Loaded returns what Fixed gave in a register, for the other instructions.
func (a *Assembler) Loaded(fixed operand.Op) reg.VecVirtual {
	if m, ok := fixed.(operand.Mem); ok {
		return a.Vector(m)
	}
	return fixed.(reg.VecVirtual)
}
