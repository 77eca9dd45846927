// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

const (
	hottest = 100.  // degrees; the coldest is 0
	every   = 10    // steps from one question for the largest change to the next
	flow    = 0.225 // the part of a difference that flows between two cells in a step: less than 1/4
)

// The neighbours: a side's opposite is 1 minus it.
const (
	above = iota
	below
)

// A plate is one PE's rows of cells, twice: a step computes one from the
// other. A row of the neighbour's is kept above and below them.
type plate struct {
	pe      *shmem.PE
	n       int // cells of the plate's edge
	lo, hi  int // this PE's rows
	cells   [2]shmem.Sym[float64]
	arrived [2]shmem.Sym[uint64]  // signals for both sides: the step, odd and even ones apart
	change  [2]shmem.Sym[float64] // the largest of any cell in a step; the same of all PEs
	step    int
}

// newPlate is collective.
func newPlate(pe *shmem.PE, n int) (*plate, error) {
	p := &plate{pe: pe, n: n}
	p.lo, p.hi = yard.Share(n, pe.MyPE(), pe.NPEs())
	room := (n+pe.NPEs()-1)/pe.NPEs() + 2 // rows of a PE at most
	var err error
	for i := range 2 {
		if p.cells[i], err = shmem.Alloc[float64](pe, room*n); err != nil {
			return nil, err
		}
		if p.arrived[i], err = shmem.Alloc[uint64](pe, 2); err != nil {
			return nil, err
		}
		if p.change[i], err = shmem.Alloc[float64](pe, 1); err != nil {
			return nil, err
		}
	}
	for y := p.lo; y < p.hi; y++ {
		row := p.row(0, y-p.lo)
		for x := range row {
			row[x] = first(float64(x)/float64(n), float64(y)/float64(n))
		}
	}
	return p, nil
}

// first returns how hot the plate is at the beginning, at a place in the unit
// square: a ring, a disc, and a bar.
func first(x, y float64) float64 {
	ring := math.Hypot(x-0.35, y-0.35)
	disc := math.Hypot(x-0.75, y-0.3)
	bar := math.Abs(y-0.8) < 0.06 && math.Abs(x-0.5) < 0.35
	if math.Abs(ring-0.2) < 0.04 || disc < 0.1 || bar {
		return hottest
	}
	return 0
}

// row returns a row of this PE's: -1 and hi-lo are the neighbours'.
func (p *plate) row(which, y int) []float64 {
	return p.cells[which].Local()[(y+1)*p.n : (y+2)*p.n]
}

// neighbour returns the PE on a side.
func (p *plate) neighbour(side int) (pe int, ok bool) {
	pe = p.pe.MyPE() - 1 + 2*side
	return pe, pe >= 0 && pe < p.pe.NPEs()
}

// spread takes up to so many steps, until no cell changes by more than even,
// and returns how many it took. It asks for the largest change now and then, and
// takes more steps until it needs the answer.
func (p *plate) spread(steps int, even float64) int {
	var largest *shmem.Collective // on its way
	for p.step < steps {
		change := p.advance()
		if p.step%every != 0 {
			continue
		}
		if largest != nil {
			largest.Wait()
			if p.change[1].Local()[0] <= even {
				return p.step // all PEs see the same change, and end together
			}
		}
		p.change[0].Local()[0] = change
		largest = shmem.MaxReduceAsync(p.pe.World(), p.change[1], p.change[0])
	}
	if largest != nil {
		largest.Wait()
	}
	return p.step
}

// advance takes a step, and returns the largest change of a cell.
func (p *plate) advance() (change float64) {
	last := p.hi - p.lo - 1
	p.put()
	for y := 1; y < last; y++ { // while the rows travel
		change = max(change, p.compute(y))
	}
	p.receive()
	change = max(change, p.compute(0))
	if last > 0 {
		change = max(change, p.compute(last))
	}
	p.step++
	return change
}

// put puts the outer rows where the neighbours keep them. They are read there
// by now: those of two steps ago, in the same memory, had to be before the
// neighbour could send what this PE has received since.
func (p *plate) put() {
	which := p.step % 2
	for side := range 2 {
		neighbour, ok := p.neighbour(side)
		if !ok {
			continue
		}
		from, to := 0, 0 // rows: mine, and the neighbour's in its memory
		if side == above {
			lo, hi := yard.Share(p.n, neighbour, p.pe.NPEs())
			to = hi - lo + 1
		} else {
			from = p.hi - p.lo - 1
		}
		shmem.PutSignalNBI(p.cells[which].Slice(to*p.n, (to+1)*p.n), p.row(which, from),
			p.arrived[which].At(1-side), uint64(p.step+1), shmem.SigSet, neighbour)
	}
}

// receive waits for the neighbours' rows. Where the plate ends there is none:
// the row that mirrors the outer one lets no heat flow.
func (p *plate) receive() {
	which, last := p.step%2, p.hi-p.lo-1
	for side := range 2 {
		if _, ok := p.neighbour(side); ok {
			shmem.SignalWaitUntil(p.arrived[which].At(side), shmem.CmpEQ, uint64(p.step+1))
			continue
		}
		if side == above {
			copy(p.row(which, -1), p.row(which, 0))
		} else {
			copy(p.row(which, last+1), p.row(which, last))
		}
	}
	p.pe.Quiet() // the outer rows have been read, and may change two steps later
}

// compute computes a row, and returns the largest change.
func (p *plate) compute(y int) (change float64) {
	which, last := p.step%2, p.n-1
	to, from := p.row(1-which, y), p.row(which, y)
	up, down := p.row(which, y-1), p.row(which, y+1)
	set := func(x int, west, east float64) {
		gain := flow * (up[x] + down[x] + west + east - 4*from[x])
		to[x] = from[x] + gain
		change = max(change, math.Abs(gain))
	}
	set(0, from[0], from[1]) // insulated, too
	for x := 1; x < last; x++ {
		gain := flow * (up[x] + down[x] + from[x-1] + from[x+1] - 4*from[x])
		to[x] = from[x] + gain
		if gain = math.Abs(gain); gain > change {
			change = gain
		}
	}
	set(last, from[last-1], from[last])
	return change
}

// heat returns the sum of this PE's cells.
func (p *plate) heat() (sum float64) {
	for y := range p.hi - p.lo {
		for _, c := range p.row(p.step%2, y) {
			sum += c
		}
	}
	return sum
}

// check returns how many things are wrong: cells hotter or colder than any was,
// and on PE 0 the heat, which an insulated plate keeps.
func (p *plate) check(before, after float64) (wrong int) {
	const rounding = 1e-9
	if p.pe.MyPE() == 0 && !(math.Abs(after-before) <= rounding*before) {
		wrong++
	}
	for y := range p.hi - p.lo {
		for _, c := range p.row(p.step%2, y) {
			if !(c >= -rounding && c <= hottest+rounding) {
				wrong++
			}
		}
	}
	return wrong
}
