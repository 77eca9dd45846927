// SPDX-License-Identifier: BSD-3-Clause

package fabric

import (
	"cmp"
	"fmt"
)

// Cmp is a comparison of a word (on the left) with a value (on the right).
type Cmp uint8

// The comparisons of OpenSHMEM 1.6, 9.11.
const (
	CmpEQ Cmp = iota
	CmpNE
	CmpGT
	CmpGE
	CmpLT
	CmpLE
)

// String returns the comparison's sign: "==".
func (c Cmp) String() string {
	if int(c) < len(cmpSigns) {
		return cmpSigns[c]
	}
	return fmt.Sprintf("Cmp(%d)", uint8(c))
}

var cmpSigns = [...]string{"==", "!=", ">", ">=", "<", "<="}

// Valid reports whether c is one of the six comparisons.
func (c Cmp) Valid() bool { return c <= CmpLE }

// A Cond is a condition on one word: word Cmp Value, read as Type.
// Type is an integer type.
type Cond struct {
	PE    int // whose segment holds the word: the own one, or a near PE's
	Off   Addr
	Type  Datatype
	Cmp   Cmp
	Value uint64 // bits of the value, in the low bytes

	// System says that the word is the runtime's own: who changes it calls Wake
	// without looking at Sleepers.
	System bool
}

// Holds reports whether the condition holds for a word with these bits.
func (c Cond) Holds(bits uint64) bool {
	if c.Type.Signed() {
		return Compare(c.Cmp, c.Type.signExtend(bits), c.Type.signExtend(c.Value))
	}
	return Compare(c.Cmp, c.Type.truncate(bits), c.Type.truncate(c.Value))
}

// Compare reports a c b.
func Compare[T cmp.Ordered](c Cmp, a, b T) bool {
	switch c {
	case CmpEQ:
		return a == b
	case CmpNE:
		return a != b
	case CmpGT:
		return a > b
	case CmpGE:
		return a >= b
	case CmpLT:
		return a < b
	case CmpLE:
		return a <= b
	}
	return false
}
