// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

// coarseLevel is the finest of the levels that every PE has whole: a few thousand
// points, which take about as long as two exchanges of ghosts between near PEs.
// Any class has at least one level more.
const coarseLevel = 4

// gather collects coarseLevel's residual, of which each PE has computed its
// part, on every PE.
type gather struct {
	pe    *shmem.PE
	torus torus
	n     [axes]int // points of a part
	mine  shmem.Sym[float64]
	all   shmem.Sym[float64]
}

// newGather is collective over all PEs.
func newGather(pe *shmem.PE, t torus) (*gather, error) {
	c := &gather{pe: pe, torus: t, n: t.share(1 << coarseLevel)}
	points := c.n[axisX] * c.n[axisY] * c.n[axisZ]
	var err error
	if c.mine, err = shmem.Alloc[float64](pe, points); err != nil {
		return nil, err
	}
	c.all, err = shmem.Alloc[float64](pe, points*pe.NPEs())
	return c, err
}

// part returns this PE's part of a grid of coarseLevel.
func (c *gather) part(g *grid) grid { return c.partAt(g, c.torus.at) }

func (c *gather) partAt(g *grid, at [axes]int) grid {
	var origin [axes]int
	for axis := range origin {
		origin[axis] = at[axis] * c.n[axis]
	}
	return g.view(origin, c.n)
}

// residual completes r, of which this PE's part is set, by the others' parts.
func (c *gather) residual(r *grid) {
	c.copy(c.mine.Local(), r, c.torus.at, false)
	c.pe.SyncAll() // until now, a PE may have been reading the last residual
	shmem.FCollect(c.pe.World(), c.all, c.mine)
	all, size := c.all.Local(), c.mine.Len()
	for pe := range c.pe.NPEs() {
		c.copy(all[pe*size:], r, c.torus.place(pe), true)
	}
	wrapAll(r)
}

// copy copies the part of g at a place of the torus to packed, or packed to it.
func (c *gather) copy(packed []float64, g *grid, at [axes]int, back bool) {
	part := c.partAt(g, at)
	for z := 1; z <= c.n[axisZ]; z++ {
		for y := 1; y <= c.n[axisY]; y++ {
			row := part.interior(y, z)
			if back {
				copy(row, packed)
			} else {
				copy(packed, row)
			}
			packed = packed[len(row):]
		}
	}
}
