// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

// A grid is one PE's columns. Row 0 and column 0 are given: point (i, 0) is i,
// and (0, j) is j, but (0, 0) becomes minus the last point after each sweep.
type grid struct {
	pe            *shmem.PE
	rows, columns int // of the whole grid
	group         int // rows that are handed on together
	lo, hi        int // this PE's columns
	points        []float64
	west          shmem.Sym[float64] // the column before lo
	arrived       shmem.Sym[uint64]  // signals: the sweep that a group of west's rows is of
	corner        shmem.Sym[uint64]  // signal on PE 0: the sweep that (0, 0) is of
	sweeps        uint64
}

// newGrid is collective.
func newGrid(pe *shmem.PE, rows, columns, group int) (*grid, error) {
	g := &grid{pe: pe, rows: rows, columns: columns, group: group}
	g.lo, g.hi = yard.Share(columns-1, pe.MyPE(), pe.NPEs())
	g.lo, g.hi = g.lo+1, g.hi+1
	g.points = make([]float64, rows*(g.hi-g.lo))
	for x := range g.row(0) {
		g.row(0)[x] = float64(g.lo + x)
	}
	var err error
	if g.west, err = shmem.Alloc[float64](pe, rows); err != nil {
		return nil, err
	}
	if g.arrived, err = shmem.Alloc[uint64](pe, (rows+group-1)/group); err != nil {
		return nil, err
	}
	if g.corner, err = shmem.Alloc[uint64](pe, 1); err != nil {
		return nil, err
	}
	west := g.west.Local()
	if pe.MyPE() == 0 {
		for y := range west {
			west[y] = float64(y)
		}
	} else {
		west[0] = float64(g.lo - 1)
	}
	pe.BarrierAll() // nobody puts there earlier
	return g, nil
}

func (g *grid) row(y int) []float64 {
	width := g.hi - g.lo
	return g.points[y*width : (y+1)*width]
}

// sweep computes all points that are not given, once. A PE may be ahead of those
// to its right by at most a sweep: PE 0 waits for the last, and all others
// for PE 0. So it never puts where something is still to be read.
func (g *grid) sweep() {
	me, last := g.pe.MyPE(), g.pe.NPEs()-1
	if me == 0 {
		shmem.SignalWaitUntil(g.corner, shmem.CmpEQ, g.sweeps)
	}
	g.sweeps++
	east := make([]float64, g.group) // the last column's points of a group
	for first := 1; first < g.rows; first += g.group {
		end := min(first+g.group, g.rows)
		signal := g.arrived.At(first / g.group)
		if me > 0 {
			shmem.SignalWaitUntil(signal, shmem.CmpEQ, g.sweeps)
		}
		g.compute(first, end)
		if me < last {
			for y := first; y < end; y++ {
				east[y-first] = g.row(y)[g.hi-g.lo-1]
			}
			shmem.PutSignal(g.west.Slice(first, end), east[:end-first], signal, g.sweeps, shmem.SigSet, me+1)
		}
	}
	if me == last {
		point := g.row(g.rows - 1)[g.hi-g.lo-1]
		shmem.PutSignal(g.west.At(0), []float64{-point}, g.corner, g.sweeps, shmem.SigSet, 0)
	}
}

// compute computes the points of some rows from those of the row above and of
// the column before.
func (g *grid) compute(first, end int) {
	west := g.west.Local()
	for y := first; y < end; y++ {
		row := g.row(y)
		above := g.row(y - 1)[:len(row)]
		left, between := west[y], west[y-1]
		for x, up := range above {
			left += up - between
			row[x], between = left, up
		}
	}
}

// check returns how many points are wrong after the last sweep. Point (i, j) is
// (i, 0) + (0, j) - (0, 0), and the last of a sweep is rows + columns - 2 more
// than that of the sweep before. All numbers are whole, so nothing is rounded.
func (g *grid) check() (wrong int) {
	grown := float64(g.sweeps-1) * float64(g.rows+g.columns-2)
	for y := 1; y < g.rows; y++ {
		for x, got := range g.row(y) {
			if got != float64(y+g.lo+x)+grown {
				wrong++
			}
		}
	}
	return wrong
}
