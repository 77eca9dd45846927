// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

// tileEdge is the edge of the squares that are transposed one after the other,
// so that what is read across the rows stays in the cache until all is used.
const tileEdge = 32

// matrices are one PE's rows of the two matrices a and b.
type matrices struct {
	pe     *shmem.PE
	n      int // order
	lo, hi int // this PE's rows
	a      shmem.Sym[float64]
	b      []float64
	near   [][]float64 // each PE's a, or nil if it is out of reach
	block  []float64   // what was got of a PE that is
}

// newMatrices is collective.
func newMatrices(pe *shmem.PE, n int) (*matrices, error) {
	npes := pe.NPEs()
	m := &matrices{pe: pe, n: n, near: make([][]float64, npes)}
	m.lo, m.hi = yard.Share(n, pe.MyPE(), npes)
	room := (n + npes - 1) / npes // rows of a PE at most
	var err error
	if m.a, err = shmem.Alloc[float64](pe, room*n); err != nil {
		return nil, err
	}
	m.b = make([]float64, (m.hi-m.lo)*n)
	m.block = make([]float64, room*(m.hi-m.lo))
	for p := range npes {
		m.near[p] = shmem.Ptr(m.a, p)
	}
	for i := range m.b {
		m.a.Local()[i] = float64(m.lo*n + i)
	}
	return m, nil
}

// reached returns how many PEs, the own one included, Ptr reaches.
func (m *matrices) reached() (n int) {
	for _, a := range m.near {
		if a != nil {
			n++
		}
	}
	return n
}

// step adds the transpose of a to b, and then 1 to each element of a.
func (m *matrices) step() {
	me, npes := m.pe.MyPE(), m.pe.NPEs()
	m.pe.BarrierAll() // a is whole everywhere
	for i := range npes {
		m.add((me + i) % npes) // all PEs start with different ones
	}
	m.pe.BarrierAll() // nobody reads a any more
	a := m.a.Local()[:len(m.b)]
	for i := range a {
		a[i]++
	}
}

// add adds the transpose of PE source's rows: those of their columns that are
// rows here.
func (m *matrices) add(source int) {
	lo, hi := yard.Share(m.n, source, m.pe.NPEs())
	rows, columns := hi-lo, m.hi-m.lo
	if rows == 0 || columns == 0 {
		return
	}
	b := m.b[lo:] // whose columns are the source's rows
	if near := m.near[source]; near != nil {
		transpose(b, near[m.lo:], m.n, m.n, rows, columns)
		return
	}
	shmem.GetBlocks(m.block, m.a.Slice(m.lo, m.a.Len()), columns, m.n, columns, rows, source)
	transpose(b, m.block, m.n, columns, rows, columns)
}

// transpose adds the transpose of rows by columns elements of a to b:
//
//	b[x·bStride+y] += a[y·aStride+x], for y in [0, rows), x in [0, columns)
func transpose(b, a []float64, bStride, aStride, rows, columns int) {
	for y0 := 0; y0 < rows; y0 += tileEdge {
		y1 := min(y0+tileEdge, rows)
		for x0 := 0; x0 < columns; x0 += tileEdge {
			for x := x0; x < min(x0+tileEdge, columns); x++ {
				to := b[x*bStride:][y0:y1]
				from := a[y0*aStride+x:]
				for i := range to {
					to[i] += from[i*aStride]
				}
			}
		}
	}
}

// check returns how many elements of b are wrong after so many steps: element
// (y, x) of a began with y·n+x. All numbers are whole, so nothing is rounded.
func (m *matrices) check(steps int) (wrong int) {
	k := float64(steps)
	for i, got := range m.b {
		y, x := m.lo+i/m.n, i%m.n
		if got != k*float64(x*m.n+y)+k*(k-1)/2 {
			wrong++
		}
	}
	return wrong
}
