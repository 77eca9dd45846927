// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// random returns a grid of numbers around 0, ghosts and what is between rows
// included.
func random(n [axes]int, stream *nas.Random) grid {
	g := newGrid(n)
	for i := range g.data {
		g.data[i] = stream.Next() - 0.5
	}
	return g
}

// stencil is the 27-point stencil as it is defined.
func stencil(g *grid, x, y, z int, w weights) (sum float64) {
	for k := -1; k <= 1; k++ {
		for j := -1; j <= 1; j++ {
			for i := -1; i <= 1; i++ {
				sum += w[i*i+j*j+k*k] * g.data[g.at(x+i, y+j, z+k)]
			}
		}
	}
	return sum
}

// points calls f for the interior points of a grid.
func points(g *grid, f func(x, y, z int)) {
	for z := 1; z <= g.n[axisZ]; z++ {
		for y := 1; y <= g.n[axisY]; y++ {
			for x := 1; x <= g.n[axisX]; x++ {
				f(x, y, z)
			}
		}
	}
}

// near reports whether got is want but for the rounding of some thirty
// operations on numbers up to 1.
func near(got, want float64) bool { return math.Abs(got-want) <= 0x1p-47 }

// sizes are those of coarse and odd grids, and of rows of several vectors.
var sizes = [...][axes]int{{2, 2, 2}, {4, 2, 6}, {8, 4, 2}, {16, 4, 4}, {24, 2, 2}, {40, 2, 4}, {64, 4, 2}}

func TestOperators_AreTheirDefinitions(t *testing.T) {
	k := planesOf(nas.Go)
	stream := nas.Random(seed)
	for _, n := range sizes {
		u, v := random(n, &stream), random(n, &stream)
		r := newGrid(n)
		residual(&k, &r, &v, &u)
		points(&r, func(x, y, z int) {
			got, want := r.data[r.at(x, y, z)], v.data[v.at(x, y, z)]+stencil(&u, x, y, z, residualWeights())
			if !near(got, want) {
				t.Fatalf("%v: residual at (%d, %d, %d) is %v, want %v", n, x, y, z, got, want)
			}
		})

		w := problems['B'].smoother
		smooth(&k, &u, &v, &w)
		before := random(n, &stream)
		copy(before.data, u.data)
		smooth(&k, &u, &v, &w)
		points(&u, func(x, y, z int) {
			got, want := u.data[u.at(x, y, z)], before.data[u.at(x, y, z)]+stencil(&v, x, y, z, w)
			if !near(got, want) {
				t.Fatalf("%v: smoothed point (%d, %d, %d) is %v, want %v", n, x, y, z, got, want)
			}
		})

		coarse := newGrid([axes]int{n[axisX] / 2, n[axisY] / 2, n[axisZ] / 2})
		restrict(&k, &coarse, &u)
		points(&coarse, func(x, y, z int) {
			got, want := coarse.data[coarse.at(x, y, z)], stencil(&u, 2*x, 2*y, 2*z, weights{1. / 2, 1. / 4, 1. / 8, 1. / 16})
			if !near(got, want) {
				t.Fatalf("%v: restriction at (%d, %d, %d) is %v, want %v", n, x, y, z, got, want)
			}
		})
	}
}

// A fine point is the mean of the coarse ones around it: of one, two, four or
// eight. Ghosts are fine points too.
func TestProlong_IsLinearInterpolation(t *testing.T) {
	k := planesOf(nas.Go)
	stream := nas.Random(seed)
	for _, n := range sizes {
		coarse := random([axes]int{n[axisX] / 2, n[axisY] / 2, n[axisZ] / 2}, &stream)
		fine := random(n, &stream)
		before := random(n, &stream)
		copy(before.data, fine.data)
		prolong(&k, &fine, &coarse)
		for z := range n[axisZ] + 2 {
			for y := range n[axisY] + 2 {
				for x := range n[axisX] + 2 {
					want := before.data[fine.at(x, y, z)]
					for i := range 8 {
						want += coarse.data[coarse.at((x+i&1)/2, (y+i>>1&1)/2, (z+i>>2)/2)] / 8
					}
					if got := fine.data[fine.at(x, y, z)]; !near(got, want) {
						t.Fatalf("%v: fine point (%d, %d, %d) is %v, want %v", n, x, y, z, got, want)
					}
				}
			}
		}
	}
}

func TestSquares(t *testing.T) {
	for n := range 10 {
		x := make([]float64, n)
		want := 0.
		for i := range x {
			x[i] = float64(i + 1)
			want += x[i] * x[i]
		}
		if got := squares(x); got != want {
			t.Errorf("the sum of %d squares is %v, want %v", n, got, want)
		}
	}
}

func TestProblem_VerifiesToOnePartIn1e8(t *testing.T) {
	for class, p := range problems {
		for factor, want := range map[float64]bool{1: true, 1 + 5e-9: true, 1 + 2e-8: false, 1 - 2e-8: false, math.NaN(): false} {
			if got := p.verify(p.norm * factor); got != want {
				t.Errorf("class %v: %v times the norm verifies: %v, want %v", class, factor, got, want)
			}
		}
	}
}
