// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

// What is left of a row is one word: how many elements it has, and the sum of
// their columns.
//
//	count (16 bits) | sum (48 bits)
const (
	one     = 1 << 48
	sumMask = one - 1
)

// A sorter's rows and columns are dealt to the PEs one by one: row r is PE r mod
// NPEs's row r / NPEs.
type sorter struct {
	matrix
	pe     *shmem.PE
	left   shmem.Sym[uint64] // what is left of this PE's rows
	placed shmem.Sym[int64]  // on PE 0: how many rows are

	// This PE's columns: the rows of column k are those from starts[k] up to starts[k+1].
	starts shmem.Sym[int64]
	rows   shmem.Sym[int32]

	// This PE's rows that have one element left, in the order in which they came to:
	// 1 more than what element makes of it.
	queue  shmem.Sym[uint64]
	queued shmem.Sym[int64] // slots of it that are taken

	// The result: 1 more than the place of each of this PE's rows and columns.
	rowPlace, columnPlace shmem.Sym[int32]
	elements              int // of this PE's columns, at the beginning
}

// element returns the only one that is left of its row, as one word.
func element(row, column int) uint64 { return uint64(row)<<32 | uint64(column) }

// newSorter makes the matrix. Every PE goes through all of it, and keeps its
// rows and columns. It is collective.
func newSorter(pe *shmem.PE, m matrix) (*sorter, error) {
	me, npes := pe.MyPE(), pe.NPEs()
	s := &sorter{matrix: m, pe: pe}
	room := (m.n + npes - 1) / npes
	left, byColumn := make([]uint64, room), make([][]int32, room)
	var single []uint64 // rows of one element
	var columns []int
	for i := range m.n {
		r := m.shuffledRow(i)
		columns = m.row(columns[:0], i)
		for _, c := range columns {
			if r%npes == me {
				left[r/npes] += one + uint64(c)
			}
			if c%npes == me {
				byColumn[c/npes] = append(byColumn[c/npes], int32(r))
				s.elements++
			}
		}
		if len(columns) == 1 && r%npes == me {
			single = append(single, 1+element(r, columns[0]))
		}
	}
	var err error
	for _, x := range []struct {
		sym *shmem.Sym[int64]
		n   int
	}{{&s.placed, 1}, {&s.starts, room + 1}, {&s.queued, 1}} {
		if *x.sym, err = shmem.Alloc[int64](pe, x.n); err != nil {
			return nil, err
		}
	}
	for _, x := range []*shmem.Sym[uint64]{&s.left, &s.queue} {
		if *x, err = shmem.Alloc[uint64](pe, room); err != nil {
			return nil, err
		}
	}
	for _, x := range []*shmem.Sym[int32]{&s.rowPlace, &s.columnPlace} {
		if *x, err = shmem.Alloc[int32](pe, room); err != nil {
			return nil, err
		}
	}
	most := s.starts.At(0) // elements of a PE's columns; it becomes 0 again
	most.Local()[0] = int64(s.elements)
	shmem.MaxReduce(pe.World(), most, most)
	if s.rows, err = shmem.Alloc[int32](pe, int(most.Local()[0])); err != nil {
		return nil, err
	}
	copy(s.left.Local(), left)
	s.queued.Local()[0] = int64(copy(s.queue.Local(), single))
	starts, rows := s.starts.Local(), s.rows.Local()[:0]
	starts[0] = 0
	for k, column := range byColumn {
		rows = append(rows, column...) // within its room
		starts[k+1] = int64(len(rows))
	}
	return s, nil
}

// sort places this PE's rows.
func (s *sorter) sort() {
	npes := s.pe.NPEs()
	span, rows := make([]int64, 2), make([]int32, 0, s.over)
	for next := range (s.n - s.pe.MyPE() + npes - 1) / npes {
		slot := s.queue.At(next)
		shmem.WaitUntil(slot, shmem.CmpNE, 0)
		e := shmem.AtomicFetch(slot, s.pe.MyPE()) - 1
		row, column := int(e>>32), int(uint32(e))
		place := int32(int64(s.n) - shmem.AtomicFetchInc(s.placed, 0))
		shmem.PutValue(s.rowPlace.At(row/npes), place, row%npes)
		shmem.PutValue(s.columnPlace.At(column/npes), place, column%npes)

		owner, k := column%npes, column/npes
		shmem.Get(span, s.starts.Slice(k, k+2), owner)
		rows = append(rows[:0], make([]int32, span[1]-span[0])...)
		shmem.Get(rows, s.rows.Slice(int(span[0]), int(span[1])), owner)
		for _, r := range rows {
			s.remove(int(r), column)
		}
	}
}

// remove takes a column's element out of a row, and queues the row if one
// remains. The row that the column was placed with keeps none.
func (s *sorter) remove(row, column int) {
	owner, less := row%s.pe.NPEs(), one+uint64(column)
	left := shmem.AtomicFetchAdd(s.left.At(row/s.pe.NPEs()), -less, owner) - less
	if left/one == 1 {
		slot := shmem.AtomicFetchInc(s.queued, owner)
		shmem.PutValue(s.queue.At(int(slot)), 1+element(row, int(left&sumMask)), owner)
	}
}

// check returns how many things are wrong: elements below the diagonal, and places
// that do not have one row and one column. It is collective.
func (s *sorter) check() (wrong int, err error) {
	rowPlaces, err := s.collect(s.rowPlace)
	if err != nil {
		return 0, err
	}
	columnPlaces, err := s.collect(s.columnPlace)
	if err != nil {
		return 0, err
	}
	if s.pe.MyPE() == 0 {
		wrong += missing(rowPlaces) + missing(columnPlaces)
	}
	var columns []int
	for i := s.pe.MyPE(); i < s.n; i += s.pe.NPEs() {
		columns = s.row(columns[:0], i)
		for _, c := range columns {
			if rowPlaces[s.shuffledRow(i)] > columnPlaces[c] {
				wrong++
			}
		}
	}
	return wrong, nil
}

// collect returns the places of all PEs' rows, or columns. It is collective.
func (s *sorter) collect(x shmem.Sym[int32]) ([]int32, error) {
	npes := s.pe.NPEs()
	all, err := shmem.Alloc[int32](s.pe, x.Len()*npes)
	if err != nil {
		return nil, err
	}
	shmem.FCollect(s.pe.World(), all, x)
	places := make([]int32, s.n)
	for i := range places {
		places[i] = all.Local()[i%npes*x.Len()+i/npes]
	}
	shmem.Free(all)
	return places, nil
}

// missing returns how many of the numbers from 1 to len(places) are not there.
func missing(places []int32) (n int) {
	seen := make([]bool, len(places)+1)
	for _, p := range places {
		seen[p] = true
	}
	for _, there := range seen[1:] {
		if !there {
			n++
		}
	}
	return n
}
