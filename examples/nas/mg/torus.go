// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/examples/internal/command"

// torus is the PEs as a box with periodic ends, each of which holds the same
// part of the cube.
type torus struct {
	size [axes]int // PEs along each axis
	at   [axes]int // this PE
}

// rowValue is how much longer than along the other axes parts must be along x to
// be cut there: that makes rows shorter, and its faces' points lie far apart in
// memory.
const rowValue = 4

// newTorus lays out npes PEs: it halves the parts of the cube where they are
// longest until there are enough. The error is a usage error: edge³ points are
// not to be cut into npes equal parts, or some would be too small.
func newTorus(me, npes, edge int) (torus, error) {
	if npes&(npes-1) != 0 || npes > edge {
		return torus{}, command.Usagef("MG of %d³ points runs on a power of two of PEs, %d at most, not on %d", edge, edge, npes)
	}
	size := [axes]int{1, 1, 1}
	for ; npes > 1; npes /= 2 {
		longest := axisZ
		if edge/size[axisY] > edge/size[longest] {
			longest = axisY
		}
		if edge/size[axisX] > rowValue*edge/size[longest] {
			longest = axisX
		}
		size[longest] *= 2
	}
	return torusOf(me, size), nil
}

// torusOf returns the torus of this size from the place of PE me.
func torusOf(me int, size [axes]int) torus {
	t := torus{size: size}
	t.at = t.place(me)
	return t
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
