// SPDX-License-Identifier: BSD-3-Clause

package fabric

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"sync/atomic"
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

	// Long says that others come first, so that who waits where PEs outnumber cores does
	// better to sleep at once.
	Long bool
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

// Conds is a set of conditions on words that lie one behind the other: it holds if one of
// them does.
type Conds struct {
	Cond     // on the first word
	N    int // words

	// Values, unless nil, are the words' values, N of them as memory has them, in place of
	// Value.
	Values []byte

	// Skip, unless nil, says which words do not count: those with a number other than 0.
	Skip []int

	// Stop, unless nil, makes the set hold once it is true. Whoever sets it calls Wake.
	Stop *atomic.Bool
}

// At returns the condition on word i, and whether it counts. Neither does At write
// anything, nor does the race detector see it read: a wait may end in another goroutine.
//
//go:norace
func (s *Conds) At(i int) (c Cond, counts bool) {
	if s.Skip != nil && s.Skip[i] != 0 {
		return Cond{}, false
	}
	c = s.Cond
	size := Addr(c.Type.Size())
	c.Off += Addr(i) * size
	if s.Values != nil {
		c.Value = wordAt(s.Values[Addr(i)*size:], size)
	}
	return c, true
}

// Single reports whether s is a condition on one word and no more, the Cond.
func (s *Conds) Single() bool {
	return s.N == 1 && s.Values == nil && s.Skip == nil && s.Stop == nil
}

// Stopped reports whether Stop ends the wait.
func (s *Conds) Stopped() bool { return s.Stop != nil && s.Stop.Load() }

// wordAt returns the bits of the word of size bytes that b starts with.
//
//go:norace
func wordAt(b []byte, size Addr) uint64 {
	switch size {
	case 8:
		return binary.NativeEndian.Uint64(b)
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	}
	return uint64(b[0])
}
