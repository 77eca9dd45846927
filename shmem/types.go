// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "github.com/goshmem/goshmem/fabric"

// The constraints of the verbs, from OpenSHMEM's type tables, with Go's own
// widths added. A type that a verb does not take is refused when the program
// is compiled.

// Integer is every integer type: the standard atomic types of OpenSHMEM 1.6,
// table 5, and the 8- and 16-bit ones.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Bitwise is every type with bits to combine (OpenSHMEM 1.6, table 7).
type Bitwise interface{ Integer }

// Scalar is every type that fits one atomic word: the extended atomic types of
// OpenSHMEM 1.6, table 6, and complex64. complex128 has no atomic access
// anywhere in Go, so it is not one.
type Scalar interface {
	Integer | ~float32 | ~float64 | ~complex64
}

// Ordered is every type of a word whose values have an order.
type Ordered interface {
	Integer | ~float32 | ~float64
}

// Numeric is every type that can be added and multiplied (OpenSHMEM 1.6,
// table 10).
type Numeric interface {
	Integer | ~float32 | ~float64 | ~complex64 | ~complex128
}

// Cmp is a comparison of a symmetric word with a value. OpenSHMEM 1.6, 9.11.
type Cmp = fabric.Cmp

// The comparisons: the word is on the left, the value on the right.
const (
	CmpEQ = fabric.CmpEQ // ==
	CmpNE = fabric.CmpNE // !=
	CmpGT = fabric.CmpGT // >
	CmpGE = fabric.CmpGE // >=
	CmpLT = fabric.CmpLT // <
	CmpLE = fabric.CmpLE // <=
)
