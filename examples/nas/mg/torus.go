// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/examples/internal/command"

// torus is the PEs as a box with periodic ends, each of which holds the same
// part of the cube.
type torus struct {
	size [axes]int // PEs along each axis
	at   [axes]int // this PE
}

const (
	// longer is how many times longer than along the axis before parts must be to
	// be cut along the next. The first is z, whose faces are contiguous; those of y
	// are rows, those of x single points, and each axis that is cut adds a step to
	// an exchange in which all neighbours wait for each other.
	longer = 4

	// mostAlong is the most PEs along an axis: each has a point of coarseLevel.
	mostAlong = 1 << coarseLevel
)

// newTorus lays out npes PEs. The error is a usage error: edge³ points are not
// to be cut into npes equal parts, or some would be too small.
func newTorus(me, npes, edge int) (torus, error) {
	if npes&(npes-1) != 0 || npes > edge {
		return torus{}, command.Usagef("MG of %d³ points runs on a power of two of PEs, %d at most, not on %d", edge, edge, npes)
	}
	t := torus{size: [axes]int{1, 1, 1}}
	for ; npes > 1; npes /= 2 {
		part := t.share(edge)
		axis := axisZ
		for axis > axisX && (t.size[axis] == mostAlong || part[axis-1] > longer*part[axis]) {
			axis--
		}
		t.size[axis] *= 2
	}
	return torusOf(me, t.size), nil
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
