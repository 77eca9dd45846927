// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

// A transpose reads rows of a field of outer × inner rows, of which each PE
// holds an equal share of the outer indices and wants an equal share of the
// inner ones. There is no other array that they are moved to: what a near PE
// holds is read in place, and what a far one holds is fetched first.
type transpose struct {
	pe           *shmem.PE
	field        shmem.Sym[complex128] // this PE's share: outer by outer, row by row
	length       int                   // of a row
	outer, inner int                   // shares

	parts   [][]complex128 // of each PE: its rows, from the first that is wanted on
	strides []int          // in these, from one outer index to the next
	all     rows
}

// newTranspose returns a transpose of a field of outer × inner rows, which are
// its symmetric object.
func newTranspose(pe *shmem.PE, field shmem.Sym[complex128], outer, inner, length int) *transpose {
	npes := pe.NPEs()
	t := &transpose{
		pe: pe, field: field, length: length, outer: outer / npes, inner: inner / npes,
		parts: make([][]complex128, npes), strides: make([]int, npes), all: make(rows, outer),
	}
	for target := range npes {
		if near := shmem.Ptr(field, target); near != nil {
			t.parts[target], t.strides[target] = near[t.first():], inner*length
		} else {
			t.parts[target], t.strides[target] = make([]complex128, t.outer*t.inner*length), t.inner*length
		}
	}
	return t
}

// first returns where the rows that this PE wants begin in every share.
func (t *transpose) first() int { return t.pe.MyPE() * t.inner * t.length }

// fetch gets the rows that are wanted of far PEs. Every PE's share must be
// there: all PEs' writes to it come before a barrier, and this after.
func (t *transpose) fetch() {
	npes := t.pe.NPEs()
	size := t.inner * t.length
	for i := 1; i < npes; i++ {
		target := (t.pe.MyPE() + i) % npes // not all ask the same one at once
		if shmem.Ptr(t.field, target) != nil {
			continue
		}
		for k := range t.outer {
			at := t.first() + k*npes*size
			shmem.GetNBI(t.parts[target][k*size:][:size], t.field.Slice(at, at+size), target)
		}
	}
	t.pe.Quiet()
}

// rows returns the rows of all outer indices with an inner one of this PE's
// share. They are valid until the next call.
func (t *transpose) rows(inner int) rows {
	for i := range t.all {
		part, stride := t.parts[i/t.outer], t.strides[i/t.outer]
		t.all[i] = part[i%t.outer*stride+inner*t.length:][:t.length]
	}
	return t.all
}
