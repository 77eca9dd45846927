// SPDX-License-Identifier: BSD-3-Clause

package main

// The four operators of multigrid, on what a PE holds of the grids. They need
// valid ghosts of what they read, and leave those of what they write as they
// are, but for prolong.

// residual sets r = v − A·u. r and v may be the same.
func residual(k *rows, r, v, u *grid) {
	w := residualWeights()
	for z := 1; z <= r.n[axisZ]; z++ {
		for y := 1; y <= r.n[axisY]; y++ {
			k.residual(r.interior(y, z), v.interior(y, z), u.around(y, z), u.row, u.plane, &w)
		}
	}
}

// smooth sets u = u + S·r, where S is an approximate inverse of A.
func smooth(k *rows, u, r *grid, w *weights) {
	for z := 1; z <= u.n[axisZ]; z++ {
		for y := 1; y <= u.n[axisY]; y++ {
			k.smooth(u.interior(y, z), r.around(y, z), r.row, r.plane, w)
		}
	}
}

// restrict sets the coarse grid to what the fine is around every other point.
func restrict(k *rows, coarse, fine *grid) {
	for z := 1; z <= coarse.n[axisZ]; z++ {
		for y := 1; y <= coarse.n[axisY]; y++ {
			k.restrict(coarse.interior(y, z), fine.around(2*y, 2*z), fine.row, fine.plane)
		}
	}
}

// prolong adds the coarse grid to the fine, interpolated linearly along each
// axis. It does that at the fine grid's ghosts too: if the coarse ghosts are
// valid, and the fine ones were, they are again, and no PE needs to ask another.
func prolong(k *rows, fine, coarse *grid) {
	points := fine.n[axisX] + 2
	for z := range fine.n[axisZ] + 2 {
		for y := range fine.n[axisY] + 2 {
			// Between two coarse rows lies an odd fine one; an even one is on a
			// coarse row, and so in the middle between that and itself.
			y0, y1, z0, z1 := y/2, (y+1)/2, z/2, (z+1)/2
			k.prolong(fine.from(0, y, z, points),
				coarse.from(0, y0, z0, points/2+1), coarse.from(0, y1, z0, points/2+1),
				coarse.from(0, y0, z1, points/2+1), coarse.from(0, y1, z1, points/2+1))
		}
	}
}
