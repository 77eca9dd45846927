// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

func TestTorus_HoldsEachPEOnce(t *testing.T) {
	for _, c := range []struct {
		npes, edge int
		size       [axes]int
	}{
		{1, 32, [axes]int{1, 1, 1}},
		{2, 32, [axes]int{1, 1, 2}},
		{8, 256, [axes]int{1, 1, 8}},
		{16, 256, [axes]int{1, 2, 8}},
		{32, 32, [axes]int{1, 2, 16}},
		{128, 256, [axes]int{1, 8, 16}},
		{1024, 1024, [axes]int{4, 16, 16}},
	} {
		for pe := range c.npes {
			torus, err := newTorus(pe, c.npes, c.edge)
			if err != nil || torus.size != c.size {
				t.Fatalf("%d PEs are laid out as %v, error %v, want %v", c.npes, torus.size, err, c.size)
			}
			if torus.pe(torus.at) != pe {
				t.Errorf("PE %d of %d is at %v, where PE %d is", pe, c.npes, torus.at, torus.pe(torus.at))
			}
			for axis := range axes {
				next := torus.place(torus.neighbour(axis, 1))
				want := torus.at
				want[axis] = (want[axis] + 1) % torus.size[axis]
				if next != want {
					t.Errorf("the next PE after %v along axis %d is at %v, want %v", torus.at, axis, next, want)
				}
			}
		}
	}
}

func TestTorus_RefusesOtherNumbers(t *testing.T) {
	for _, npes := range []int{3, 6, 33, 64} {
		_, err := newTorus(0, npes, 32)
		var usage *command.UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%d PEs give error %v, want a usage error", npes, err)
		}
	}
}

func TestGrid_FacesComeBackFromTheirBuffer(t *testing.T) {
	for axis := range axes {
		g := numbered([axes]int{4, 6, 8})
		want := slices.Clone(g.data)
		face := g.face(axis, 2)
		packed := slices.Clone(g.pack(make([]float64, g.faceSize()), face))
		if len(packed) != face.size() {
			t.Fatalf("axis %d: packed %d points, want %d", axis, len(packed), face.size())
		}
		g.unpack(face, make([]float64, face.size()))
		if slices.Equal(g.data, want) {
			t.Errorf("axis %d: unpacking zeros has changed nothing", axis)
		}
		g.unpack(face, packed)
		if !slices.Equal(g.data, want) {
			t.Errorf("axis %d: what was packed is not what is there after unpacking", axis)
		}
	}
}

// numbered returns a grid whose numbers all differ.
func numbered(n [axes]int) grid {
	g := newGrid(n)
	for i := range g.data {
		g.data[i] = float64(i + 1)
	}
	return g
}

// Every point of each PE's part, ghosts and their corners too, is the point of
// the cube that it stands for, on any torus; and again, for both inboxes.
func TestGhosts_AreThePointsOfTheTorus(t *testing.T) {
	const edge = 8
	point := func(x, y, z int) float64 { return float64((z*edge+y)*edge + x + 1) }
	for _, size := range [][axes]int{{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, 4}, {2, 2, 2}} {
		shmemtest.Run(t, size[axisX]*size[axisY]*size[axisZ], func(pe *shmem.PE) error {
			torus := torusOf(pe.MyPE(), size)
			g := newGrid(torus.share(edge))
			x, err := newGhosts(pe, torus, &g)
			if err != nil {
				return err
			}
			var origin [axes]int
			for axis := range origin {
				origin[axis] = torus.at[axis]*g.n[axis] - 1 + edge
			}
			for scale := 1.; scale <= 3; scale++ {
				visit := func(first, more int, f func(i int, want float64)) {
					for z := first; z < g.n[axisZ]+more; z++ {
						for y := first; y < g.n[axisY]+more; y++ {
							for x := first; x < g.n[axisX]+more; x++ {
								f(g.at(x, y, z), scale*point((origin[axisX]+x)%edge, (origin[axisY]+y)%edge, (origin[axisZ]+z)%edge))
							}
						}
					}
				}
				visit(1, 1, func(i int, want float64) { g.data[i] = want })
				x.refresh(&g)
				wrong := 0
				visit(0, 2, func(i int, want float64) {
					if g.data[i] != want {
						wrong++
					}
				})
				if wrong > 0 {
					t.Errorf("torus %v, PE %d, exchange %v: %d points are wrong", size, pe.MyPE(), scale, wrong)
				}
			}
			return nil
		})
	}
}

// The right-hand side is the same on any number of PEs: here found by sorting
// all points.
func TestSource_IsTheExtremesOfAllPoints(t *testing.T) {
	const edge = 16
	all := make([]float64, edge*edge*edge)
	stream := nas.Random(seed)
	for i := range all {
		all[i] = stream.Next()
	}
	sorted := slices.Sorted(slices.Values(all))
	least, most := sorted[charges], sorted[len(sorted)-charges-1]
	for _, size := range [][axes]int{{1, 1, 1}, {1, 1, 2}, {2, 2, 2}} {
		shmemtest.Run(t, size[axisX]*size[axisY]*size[axisZ], func(pe *shmem.PE) error {
			torus := torusOf(pe.MyPE(), size)
			v := newGrid(torus.share(edge))
			if err := source(pe, &v, torus, edge); err != nil {
				return err
			}
			for z := 1; z <= v.n[axisZ]; z++ {
				for y := 1; y <= v.n[axisY]; y++ {
					for x := 1; x <= v.n[axisX]; x++ {
						i := (torus.at[axisZ]*v.n[axisZ]+z-1)*edge + torus.at[axisY]*v.n[axisY] + y - 1
						value := all[i*edge+torus.at[axisX]*v.n[axisX]+x-1]
						want := 0.
						if value < least {
							want = -1
						} else if value > most {
							want = 1
						}
						if got := v.data[v.at(x, y, z)]; got != want {
							t.Fatalf("torus %v, PE %d: (%d, %d, %d) is %v, want %v", size, pe.MyPE(), x, y, z, got, want)
						}
					}
				}
			}
			return nil
		})
	}
}
