// SPDX-License-Identifier: BSD-3-Clause

package main

// lane is how many numbers a row of a grid is a multiple of: a cache line, and
// the widest vector. One lane separates the interiors of two rows. It begins with
// the one row's last ghost and ends with the other's first, so that vectors of
// the interior are aligned, and those beside it can be read.
const lane = 8

// The axes, by how far apart neighbours are in memory.
const (
	axisX = iota
	axisY
	axisZ
	axes
)

// grid is a box of points, and one ghost point more on each side: a copy of the
// point that follows there, which another PE may own. Point (x, y, z) is
// data[x + row·y + plane·z], where interior points count from 1 to n along each
// axis, and ghosts are 0 and n+1.
type grid struct {
	data       []float64
	n          [axes]int
	row, plane int
}

// newGrid returns a grid of zeros.
func newGrid(n [axes]int) grid {
	row := n[axisX] + lane
	plane := row * (n[axisY] + 2)
	memory := make([]float64, plane*(n[axisZ]+2)+lane)
	return grid{memory[lane-1:], n, row, plane}
}

// at returns the index of a point.
func (g *grid) at(x, y, z int) int { return x + g.row*y + g.plane*z }

// interior returns the row of interior points that begins at (1, y, z).
func (g *grid) interior(y, z int) []float64 {
	return g.from(1, y, z, g.n[axisX])
}

// first returns the address of a row's first interior point.
func (g *grid) first(y, z int) *float64 { return &g.data[g.at(1, y, z)] }

// from returns n points of a row from (x, y, z) on.
func (g *grid) from(x, y, z, n int) []float64 {
	i := g.at(x, y, z)
	return g.data[i : i+n]
}

// around returns the memory from the corner of row (y, z)'s neighbourhood on.
func (g *grid) around(y, z int) []float64 { return g.data[g.at(0, y-1, z-1):] }

// view returns a part of a grid: n points along each axis, of which the first
// is the one after origin. Its ghosts are the points around it.
func (g *grid) view(origin, n [axes]int) grid {
	return grid{g.data[g.at(origin[axisX], origin[axisY], origin[axisZ]):], n, g.row, g.plane}
}

// face is the points of a grid at one place of an axis, as runs of neighbours in
// memory. It takes in ghosts of the axes before: faces are exchanged axis by
// axis, and so the ghosts at edges and corners come along. Others that it takes
// in for being simple are refreshed after it.
type face struct {
	start int // index of the first point
	run   int // points in a run
	runs  int
	step  int // from one run to the next
}

// face returns the points at position i of an axis.
func (g *grid) face(axis, i int) face {
	n := g.n
	switch axis {
	case axisX:
		return face{g.at(i, 1, 1), 1, (n[axisY]+2)*n[axisZ] - 2, g.row}
	case axisY:
		return face{g.at(0, i, 1), n[axisX] + 2, n[axisZ], g.plane}
	default:
		return face{g.at(0, 0, i), g.plane - lane + 2, 1, 0}
	}
}

// size returns the number of points.
func (f face) size() int { return f.run * f.runs }

// faceSize returns the size of the grid's largest face.
func (g *grid) faceSize() int {
	return max(g.face(axisX, 0).size(), g.face(axisY, 0).size(), g.face(axisZ, 0).size())
}

// copyFace makes the points of dst those of src, another face along its axis.
func (g *grid) copyFace(dst, src face) {
	to, from := dst.start, src.start
	for range dst.runs {
		if dst.run == 1 { // a call would cost more than the copy
			g.data[to] = g.data[from]
		} else {
			copy(g.data[to:to+dst.run], g.data[from:])
		}
		to += dst.step
		from += dst.step
	}
}

// pack returns the points of f one after the other, in buffer unless they are
// that already.
func (g *grid) pack(buffer []float64, f face) []float64 {
	if f.runs == 1 {
		return g.data[f.start : f.start+f.run]
	}
	from := f.start
	for i := range f.runs {
		if f.run == 1 {
			buffer[i] = g.data[from]
		} else {
			copy(buffer[i*f.run:], g.data[from:from+f.run])
		}
		from += f.step
	}
	return buffer[:f.size()]
}

// unpack is pack the other way round.
func (g *grid) unpack(f face, buffer []float64) {
	to := f.start
	for i := range f.runs {
		if f.run == 1 {
			g.data[to] = buffer[i]
		} else {
			copy(g.data[to:to+f.run], buffer[i*f.run:])
		}
		to += f.step
	}
}
