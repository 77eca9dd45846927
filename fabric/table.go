// SPDX-License-Identifier: BSD-3-Clause

package fabric

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Table holds what [Domain.Register] returned on every PE, in the order of the PEs. Its records
// have one size, so that the processes of a node can share one copy of it: a job of
// 100,000 PEs must not cost each PE megabytes.
type Table struct {
	records []byte
	size    int // bytes of a record: a length, a blob, and zeroes
}

const lengthSize = 2 // bytes of a record's length

// NewTable returns the table of these blobs, which it copies. A blob has at most
// 65,535 bytes.
func NewTable(blobs [][]byte) Table {
	size := 0
	for pe, b := range blobs {
		if len(b) > math.MaxUint16 {
			panic(fmt.Sprintf("fabric: a blob of %d bytes from PE %d, at most %d are possible", len(b), pe, math.MaxUint16))
		}
		size = max(size, len(b))
	}
	t := Table{size: lengthSize + size}
	t.records = make([]byte, t.size*len(blobs))
	for pe, b := range blobs {
		r := t.records[pe*t.size:]
		binary.LittleEndian.PutUint16(r, uint16(len(b)))
		copy(r[lengthSize:], b)
	}
	return t
}

// On returns the same table on another copy of its Bytes.
func (t Table) On(records []byte) Table {
	return Table{records[:len(t.records):len(t.records)], t.size}
}

// Bytes returns the table's records, which are not to be changed.
func (t Table) Bytes() []byte { return t.records }

// NPEs returns how many PEs the table has.
func (t Table) NPEs() int {
	if t.size == 0 {
		return 0
	}
	return len(t.records) / t.size
}

// Blob returns PE pe's blob, which is not to be changed.
func (t Table) Blob(pe int) []byte {
	r := t.records[pe*t.size : (pe+1)*t.size]
	n := min(int(binary.LittleEndian.Uint16(r)), len(r)-lengthSize)
	return r[lengthSize : lengthSize+n : lengthSize+n]
}
