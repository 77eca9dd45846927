// SPDX-License-Identifier: BSD-3-Clause

package fabric

import (
	"encoding/binary"
	"fmt"
)

// Op is an atomic operation on one word. The set is fi_atomic(3)'s.
type Op uint8

// The operations. Plain ones go through [Endpoint.Atomic] or, when the old
// value is wanted, through [Endpoint.FetchAtomic]; OpRead and those from
// OpCswap on through FetchAtomic only. Comparing operations store v if
// "comparand op word" holds, as libfabric reads them: OpCswapLE if cmp <= word.
const (
	OpMin Op = iota
	OpMax
	OpSum
	OpProd
	OpLor
	OpLand
	OpBor
	OpBand
	OpLxor
	OpBxor
	OpWrite
	OpRead
	OpCswap
	OpCswapNE
	OpCswapLE
	OpCswapLT
	OpCswapGE
	OpCswapGT
	OpMswap // word = v&cmp | word&^cmp

	NumOps = iota
)

var opNames = [NumOps]string{
	"min", "max", "sum", "prod", "lor", "land", "bor", "band", "lxor", "bxor", "write", "read",
	"cswap", "cswap_ne", "cswap_le", "cswap_lt", "cswap_ge", "cswap_gt", "mswap",
}

// String returns fi_atomic's name in lower case: "sum", "cswap_le".
func (op Op) String() string {
	if op < NumOps {
		return opNames[op]
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

// Compares reports whether op uses a comparand or mask.
func (op Op) Compares() bool { return op >= OpCswap && op < NumOps }

// Datatype is the type that an atomic operation reads a word as.
type Datatype uint8

// The types of fi_atomic(3) that Go has. Complex64 is an 8-byte word;
// Complex128 fits no atomic instruction and is here to be refused by name.
const (
	Int8 Datatype = iota
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Float32
	Float64
	Complex64
	Complex128

	NumDatatypes = iota
)

var datatypes = [NumDatatypes]struct {
	name string
	size uint8
}{
	{"int8", 1},
	{"uint8", 1},
	{"int16", 2},
	{"uint16", 2},
	{"int32", 4},
	{"uint32", 4},
	{"int64", 8},
	{"uint64", 8},
	{"float32", 4},
	{"float64", 8},
	{"complex64", 8},
	{"complex128", 16},
}

// String returns Go's name of the type.
func (dt Datatype) String() string {
	if dt < NumDatatypes {
		return datatypes[dt].name
	}
	return fmt.Sprintf("Datatype(%d)", uint8(dt))
}

// Size returns the size of a value in bytes.
func (dt Datatype) Size() uint8 { return datatypes[dt].size }

// Signed reports whether dt is a signed integer type.
func (dt Datatype) Signed() bool { return dt <= Int64 && dt&1 == 0 }

// Integer reports whether dt is an integer type.
func (dt Datatype) Integer() bool { return dt <= Uint64 }

func (dt Datatype) truncate(bits uint64) uint64 {
	unused := 64 - 8*uint(dt.Size())
	return bits << unused >> unused
}

func (dt Datatype) signExtend(bits uint64) int64 {
	unused := 64 - 8*uint(dt.Size())
	return int64(bits<<unused) >> unused
}

// AtomicTable says for which pairs an operation exists. The zero value has none.
type AtomicTable [NumOps]uint16

// Set adds pairs.
func (t *AtomicTable) Set(op Op, dts ...Datatype) {
	for _, dt := range dts {
		t[op] |= 1 << dt
	}
}

// Has reports whether op on dt is in the table.
func (t *AtomicTable) Has(op Op, dt Datatype) bool {
	return op < NumOps && dt < NumDatatypes && t[op]&(1<<dt) != 0
}

// AllAtomics returns the table of every pair that [Applies].
func AllAtomics() AtomicTable {
	var t AtomicTable
	for op := range Op(NumOps) {
		for dt := range Datatype(NumDatatypes) {
			if Applies(op, dt) {
				t.Set(op, dt)
			}
		}
	}
	return t
}

// PutBits stores the low len(dst) bytes of a word, in the machine's byte order.
// len(dst) is 1, 2, 4 or 8.
func PutBits(dst []byte, bits uint64) {
	var b [8]byte
	switch len(dst) {
	case 1:
		b[0] = byte(bits)
	case 2:
		binary.NativeEndian.PutUint16(b[:], uint16(bits))
	case 4:
		binary.NativeEndian.PutUint32(b[:], uint32(bits))
	case 8:
		binary.NativeEndian.PutUint64(b[:], bits)
	default:
		panic(fmt.Sprintf("fabric: PutBits of %d bytes", len(dst)))
	}
	copy(dst, b[:]) // one access: the race detector remembers few of one word
}
