// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"slices"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

func TestDraw_GivesTheSameBits(t *testing.T) {
	for _, form := range nas.Runs(forms()) {
		l := loopsOf(form)
		stream := nas.Random(seed)
		for i := range 200 {
			got, want := new(block), new(block)
			n, kept := l.draw(got, stream), draw(want, stream)
			if n != kept || !sameBits(got.x[:n], want.x[:n]) || !sameBits(got.y[:n], want.y[:n]) {
				t.Fatalf("%s: block %d has %d points that are others than Go's %d", form, i, n, kept)
			}
			stream = stream.Skipped(2 * blockPairs)
		}
	}
}

func TestTransform_GivesTheSameBits(t *testing.T) {
	drawn := new(block)
	kept := draw(drawn, seed)
	one := func(x, y float64) func(int) (float64, float64) {
		return func(int) (float64, float64) { return x, y }
	}
	for name, point := range map[string]func(i int) (x, y float64){
		"drawn":                      func(i int) (float64, float64) { return drawn.x[i%kept], drawn.y[i%kept] },
		"on the circle":              one(-1, 0),
		"near the circle":            func(i int) (float64, float64) { return 1 - math.Ldexp(1, -1-i%53), 0 },
		"near the middle":            func(i int) (float64, float64) { return math.Ldexp(1, -1-i%45), math.Ldexp(-1, -1-i%44) },
		"in one annulus":             one(0.1, 0.1),
		"some in the ninth annulus":  func(i int) (float64, float64) { return 0.5, math.Ldexp(1, -1-i%49) * float64(i%2) },
		"all in the ninth annulus":   one(0, math.Ldexp(1, -50)),
		"all in the twelfth annulus": one(math.Ldexp(1, -45), 0),
	} {
		points := new(block)
		for i := range points.x {
			points.x[i], points.y[i] = point(i)
		}
		for _, form := range nas.Runs(forms()) {
			l := loopsOf(form)
			for _, n := range []int{0, 1, 7, 8, 9, 803, blockPairs} {
				b := *points
				got, want := tally{sumX: 3}, tally{sumX: 3}
				l.transform(&b, n, &got)
				transform(&b, n, &want)
				if got.annuli != want.annuli || !sameBits([]float64{got.sumX, got.sumY}, []float64{want.sumX, want.sumY}) {
					t.Errorf("%s: %d points %s are %v, want %v", form, n, name, got, want)
				}
				if got.accepted() != int64(n) {
					t.Errorf("%s: %d points %s are counted as %d", form, n, name, got.accepted())
				}
				end := min(n+atOnce, blockPairs)
				if !sameBits(b.x[:n], points.x[:n]) || !sameBits(b.x[end:], points.x[end:]) || !sameBits(b.y[end:], points.y[end:]) {
					t.Errorf("%s: of %d points %s, others were written to", form, n, name)
				}
			}
		}
	}
}

func sameBits(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
}
