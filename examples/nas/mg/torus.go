// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math/bits"

	"github.com/goshmem/goshmem/examples/internal/command"
)

// torus is the PEs as a box with periodic ends, each of which holds the same
// part of the cube. Doubling their number halves the parts across z, then y, then
// x, and then z again: rows, which are contiguous, are cut last.
type torus struct {
	size [axes]int // PEs along each axis
	at   [axes]int // this PE
}

// newTorus lays out npes PEs. The error is a usage error: a cube of edge³ points
// is not to be cut into npes equal parts, or some would be too small.
func newTorus(me, npes, edge int) (torus, error) {
	if npes&(npes-1) != 0 || npes > edge {
		return torus{}, command.Usagef("MG of %d³ points runs on a power of two of PEs, %d at most, not on %d", edge, edge, npes)
	}
	t := torus{size: [axes]int{1, 1, 1}}
	for i := range bits.Len(uint(npes)) - 1 {
		t.size[axisZ-i%axes] *= 2
	}
	t.at = t.place(me)
	return t, nil
}

// place returns where a PE is.
func (t *torus) place(pe int) [axes]int {
	x, y := t.size[axisX], t.size[axisY]
	return [axes]int{pe % x, pe / x % y, pe / (x * y)}
}

// pe returns the number of the PE at a place.
func (t *torus) pe(at [axes]int) int {
	return at[axisX] + t.size[axisX]*(at[axisY]+t.size[axisY]*at[axisZ])
}

// neighbour returns the number of the PE that is step PEs further along an axis.
func (t *torus) neighbour(axis, step int) int {
	at := t.at
	at[axis] = (at[axis] + step + t.size[axis]) % t.size[axis]
	return t.pe(at)
}

// share returns the points along each axis of a cube that a PE holds.
func (t *torus) share(edge int) (n [axes]int) {
	for axis := range n {
		n[axis] = edge / t.size[axis]
	}
	return n
}
