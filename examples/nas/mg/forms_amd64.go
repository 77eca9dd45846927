// SPDX-License-Identifier: BSD-3-Clause

//go:build !purego

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

// forms returns the forms beside Go that the inner loops have been written in.
func forms() []nas.Form { return []nas.Form{nas.AVX2, nas.AVX512} }

// vectorPlanes returns the operators in a vector form. Rows that are shorter
// than a vector are left to Go.
func vectorPlanes(form nas.Form) (k planes, ok bool) {
	switch form {
	case nas.AVX2:
		return assembled(4, residualAVX2, smoothAVX2, restrictAVX2, prolongAVX2), true
	case nas.AVX512:
		return assembled(8, residualAVX512, smoothAVX512, restrictAVX512, prolongAVX512), true
	default:
		return planes{}, false
	}
}

// assembled returns the operators made of these functions, whose vectors are of
// lanes numbers. The pointers they take are to points inside of a grid's planes
// and rows, and they reach no further than a row's gap beyond the ghosts.
func assembled(
	lanes int,
	residual func(r, v, around *float64, row, plane, n, rows int, w *[4]float64),
	smooth func(u, around *float64, row, plane, n, rows int, w *[4]float64),
	restrict func(coarse, around *float64, coarseRow, row, plane, n, rows int),
	prolong func(fine, lower, upper *float64, fineRow, row, n, rows int),
) planes {
	short := func(g *grid) bool { return g.n[axisX]%lanes != 0 }
	return planes{
		residual: func(r, v, u *grid, z int, w *weights) {
			if short(r) {
				residualPlane(r, v, u, z, w)
				return
			}
			residual(r.first(1, z), v.first(1, z), u.first(0, z-1), u.row, u.plane, u.n[axisX], u.n[axisY], (*[4]float64)(w))
		},
		smooth: func(u, r *grid, z int, w *weights) {
			if short(u) {
				smoothPlane(u, r, z, w)
				return
			}
			smooth(u.first(1, z), r.first(0, z-1), r.row, r.plane, u.n[axisX], u.n[axisY], (*[4]float64)(w))
		},
		restrict: func(coarse, fine *grid, z int) {
			if short(coarse) {
				restrictPlane(coarse, fine, z)
				return
			}
			restrict(coarse.first(1, z), fine.first(1, 2*z-1), coarse.row, fine.row, fine.plane, coarse.n[axisX], coarse.n[axisY])
		},
		prolong: func(fine, coarse *grid, z int) {
			if short(coarse) {
				prolongPlane(fine, coarse, z)
				return
			}
			prolong(fine.first(0, z), coarse.first(0, z/2), coarse.first(0, (z+1)/2), fine.row, coarse.row, coarse.n[axisX], fine.n[axisY]+2)
		},
	}
}
