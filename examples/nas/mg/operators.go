// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

// planes are the four operators of multigrid on one plane of a grid, in one of
// the forms that they exist in. All give the same bits.
type planes struct {
	residual func(r, v, u *grid, z int, w *weights)
	smooth   func(u, r *grid, z int, w *weights)
	restrict func(coarse, fine *grid, z int)
	prolong  func(fine, coarse *grid, z int)
}

// planesOf returns the operators in a form of this machine's.
func planesOf(form nas.Form) planes {
	if k, ok := vectorPlanes(form); ok {
		return k
	}
	return planes{residualPlane, smoothPlane, restrictPlane, prolongPlane}
}

// The operators on what a PE holds of the grids need valid ghosts of what they
// read, and leave those of what they write as they are, but for prolong.

// residual sets r = v − A·u. r and v may be the same.
func residual(k *planes, r, v, u *grid) {
	w := residualWeights()
	for z := 1; z <= r.n[axisZ]; z++ {
		k.residual(r, v, u, z, &w)
	}
}

// smooth sets u = u + S·r, where S is an approximate inverse of A.
func smooth(k *planes, u, r *grid, w *weights) {
	for z := 1; z <= u.n[axisZ]; z++ {
		k.smooth(u, r, z, w)
	}
}

// restrict sets the coarse grid to what the fine is around every other point.
func restrict(k *planes, coarse, fine *grid) {
	for z := 1; z <= coarse.n[axisZ]; z++ {
		k.restrict(coarse, fine, z)
	}
}

// prolong adds the coarse grid to the fine, interpolated linearly along each
// axis. It does that at the fine grid's ghosts too: if the coarse ghosts are
// valid, and the fine ones were, they are again, and no PE needs to ask another.
func prolong(k *planes, fine, coarse *grid) {
	for z := range fine.n[axisZ] + 2 {
		k.prolong(fine, coarse, z)
	}
}

// interpolate sets the fine grid to the coarse, as prolong adds it: to zeros, a
// plane at a time, which then are in the cache.
func interpolate(k *planes, fine, coarse *grid) {
	for z := range fine.n[axisZ] + 2 {
		clear(fine.from(0, 0, z, fine.plane-lane+2))
		k.prolong(fine, coarse, z)
	}
}

func residualPlane(r, v, u *grid, z int, w *weights) {
	for y := 1; y <= r.n[axisY]; y++ {
		residualRow(r.interior(y, z), v.interior(y, z), u.around(y, z), u.row, u.plane, w)
	}
}

func smoothPlane(u, r *grid, z int, w *weights) {
	for y := 1; y <= u.n[axisY]; y++ {
		smoothRow(u.interior(y, z), r.around(y, z), r.row, r.plane, w)
	}
}

func restrictPlane(coarse, fine *grid, z int) {
	for y := 1; y <= coarse.n[axisY]; y++ {
		restrictRow(coarse.interior(y, z), fine.around(2*y, 2*z), fine.row, fine.plane)
	}
}

func prolongPlane(fine, coarse *grid, z int) {
	points := fine.n[axisX] + 2
	for y := range fine.n[axisY] + 2 {
		// Between two coarse rows lies an odd fine one; an even one is on a coarse
		// row, and so in the middle between that and itself.
		y0, y1, z0, z1 := y/2, (y+1)/2, z/2, (z+1)/2
		prolongRow(fine.from(0, y, z, points),
			coarse.from(0, y0, z0, points/2+1), coarse.from(0, y1, z0, points/2+1),
			coarse.from(0, y0, z1, points/2+1), coarse.from(0, y1, z1, points/2+1))
	}
}
