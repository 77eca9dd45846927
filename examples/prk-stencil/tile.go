// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

// The star: what is k points away, in each of four directions, counts 1/(2k·radius),
// negative to the left and above. On a plane i + j the sum is 2 everywhere.
const (
	radius = 2
	near   = 1. / (2 * 1 * radius)
	far    = 1. / (2 * 2 * radius)
	flops  = 2*(4*radius+1) + 1 // for each point, as the kernel's authors count
)

// The edges of a tile. That opposite of e is e^1.
const (
	left = iota
	right
	above
	below
	edges
)

// A tile is one PE's part of the grid, in an array of the same shape on
// every PE, so that PEs know where their neighbours' rims are.
type tile struct {
	pe           *shmem.PE
	n            int // points of the grid's edge
	row, column  int // of the tile
	rows, cols   int // tiles
	y0, y1       int // the tile's rows of the grid
	x0, x1       int // its columns
	stride       int // of the array
	in           shmem.Sym[float64]
	out          []float64
	filled, read shmem.Sym[uint64] // signals for each edge: the step
	steps        uint64
}

// tiling returns how many columns and rows of tiles npes PEs make: as square
// as they can.
func tiling(npes int) (columns, rows int) {
	for columns = int(math.Sqrt(float64(npes))); npes%columns != 0; columns-- {
	}
	return columns, npes / columns
}

// newTile is collective.
func newTile(pe *shmem.PE, n int) (*tile, error) {
	t := &tile{pe: pe, n: n}
	t.cols, t.rows = tiling(pe.NPEs())
	t.row, t.column = pe.MyPE()/t.cols, pe.MyPE()%t.cols
	t.y0, t.y1 = yard.Share(n, t.row, t.rows)
	t.x0, t.x1 = yard.Share(n, t.column, t.cols)
	t.stride = (n+t.cols-1)/t.cols + 2*radius
	height := (n+t.rows-1)/t.rows + 2*radius
	var err error
	if t.in, err = shmem.Alloc[float64](pe, t.stride*height); err != nil {
		return nil, err
	}
	if t.filled, err = shmem.Alloc[uint64](pe, edges); err != nil {
		return nil, err
	}
	if t.read, err = shmem.Alloc[uint64](pe, edges); err != nil {
		return nil, err
	}
	t.out = make([]float64, t.in.Len())
	for y := t.y0; y < t.y1; y++ {
		for x := t.x0; x < t.x1; x++ {
			t.in.Local()[t.at(y-t.y0, x-t.x0)] = float64(x + y)
		}
	}
	return t, nil
}

// at returns the place of a point of the tile in the array; the rim is at
// negative numbers and behind the tile's last ones.
func (t *tile) at(y, x int) int { return (y+radius)*t.stride + x + radius }

// neighbour returns the PE on the other side of an edge.
func (t *tile) neighbour(edge int) (pe int, ok bool) {
	switch me := t.pe.MyPE(); edge {
	case left:
		return me - 1, t.column > 0
	case right:
		return me + 1, t.column < t.cols-1
	case above:
		return me - t.cols, t.row > 0
	default:
		return me + t.cols, t.row < t.rows-1
	}
}

// step adds the star's sums to the output, and 1 to each input.
func (t *tile) step() {
	t.steps++
	for edge := range edges {
		if neighbour, ok := t.neighbour(edge); ok {
			t.put(edge, neighbour)
		}
	}
	for edge := range edges {
		if _, ok := t.neighbour(edge); ok {
			shmem.SignalWaitUntil(t.filled.At(edge), shmem.CmpGE, t.steps)
		}
	}
	t.apply()
	for edge := range edges {
		if neighbour, ok := t.neighbour(edge); ok {
			shmem.SignalSet(t.read.At(edge^1), t.steps, neighbour)
		}
	}
}

// put fills the rim of the neighbour behind an edge, once that has read what
// was put there in the step before.
func (t *tile) put(edge, neighbour int) {
	height, width := t.y1-t.y0, t.x1-t.x0
	from, to := 0, 0 // here, and there
	size, blocks := radius, height
	switch edge {
	case left:
		lo, hi := yard.Share(t.n, t.column-1, t.cols)
		from, to = t.at(0, 0), t.at(0, hi-lo)
	case right:
		from, to = t.at(0, width-radius), t.at(0, -radius)
	case above:
		lo, hi := yard.Share(t.n, t.row-1, t.rows)
		from, to = t.at(0, 0), t.at(hi-lo, 0)
		size, blocks = width, radius
	case below:
		from, to = t.at(height-radius, 0), t.at(-radius, 0)
		size, blocks = width, radius
	}
	shmem.SignalWaitUntil(t.read.At(edge), shmem.CmpGE, t.steps-1)
	shmem.PutBlocks(t.in.Slice(to, t.in.Len()), t.in.Local()[from:], t.stride, t.stride, size, blocks, neighbour)
	t.pe.Fence() // the signal is not seen before the points
	shmem.SignalSet(t.filled.At(edge^1), t.steps, neighbour)
}

// apply adds the star's sum to each point of the output that is not too close to
// the grid's edge, and 1 to each row of the input that no star still needs,
// while it is in the cache.
func (t *tile) apply() {
	in, height, width := t.in.Local(), t.y1-t.y0, t.x1-t.x0
	first, last := max(t.y0, radius)-t.y0, min(t.y1, t.n-radius)-t.y0
	for y := range height + radius {
		if first <= y && y < last {
			t.applyRow(in, y)
		}
		if y >= radius {
			row := in[t.at(y-radius, 0):][:width]
			for x := range row {
				row[x]++
			}
		}
	}
}

// applyRow is apply for the output's row y.
func (t *tile) applyRow(in []float64, y int) {
	first, last := max(t.x0, radius)-t.x0, min(t.x1, t.n-radius)-t.x0
	at, n, stride := t.at(y, first), last-first, t.stride
	out, ahead := t.out[at:][:n], in[at+radius:][:n]
	up2, up1 := in[at-2*stride:][:n], in[at-stride:][:n]
	down1, down2 := in[at+stride:][:n], in[at+2*stride:][:n]
	left2, left1, middle, right1 := in[at-2], in[at-1], in[at], in[at+1] // move on in registers
	for x, right2 := range ahead {
		out[x] += near*(right1-left1+down1[x]-up1[x]) + far*(right2-left2+down2[x]-up2[x])
		left2, left1, middle, right1 = left1, middle, right1, right2
	}
}

// check returns how many points are wrong: each step adds 2 to each that is not
// too close to the grid's edge. The weights are powers of two, so that no
// sum is rounded.
func (t *tile) check(steps int) (wrong int) {
	for y := t.y0; y < t.y1; y++ {
		for x := t.x0; x < t.x1; x++ {
			want := 0.
			if min(x, y) >= radius && max(x, y) < t.n-radius {
				want = 2 * float64(steps)
			}
			if t.out[t.at(y-t.y0, x-t.x0)] != want {
				wrong++
			}
		}
	}
	return wrong
}
