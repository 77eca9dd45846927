// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// Every form gives the bits that Go's gives, at all points and ghosts, and
// writes nowhere else. Sizes are those of the shortest vectors, of shorter rows,
// and of many vectors; the coarse grid is whole, or a part of a larger one.
func TestForms_GiveTheSameBits(t *testing.T) {
	plain := planesOf(nas.Go)
	operators := map[string]func(k *planes, fine, other, coarse *grid){
		"residual": func(k *planes, fine, other, _ *grid) { residual(k, fine, fine, other) },
		"smooth": func(k *planes, fine, other, _ *grid) {
			w := weights{-3. / 17, 1. / 33, -1. / 61, 0}
			smooth(k, fine, other, &w)
		},
		"restrict": func(k *planes, fine, _, coarse *grid) { restrict(k, coarse, fine) },
		"prolong":  func(k *planes, fine, _, coarse *grid) { prolong(k, fine, coarse) },
	}
	for _, form := range nas.Runs(forms()) {
		k := planesOf(form)
		for name, apply := range operators {
			for _, n := range append(sizes[:], [axes]int{256, 4, 4}) {
				for _, cut := range []bool{false, true} {
					result := func(k *planes) []float64 {
						stream := nas.Random(seed)
						fine, other := random(n, &stream), random(n, &stream)
						half := [axes]int{n[axisX] / 2, n[axisY] / 2, n[axisZ] / 2}
						whole := random(half, &stream)
						coarse := whole
						if cut {
							whole = random([axes]int{2 * half[axisX], 2 * half[axisY], 2 * half[axisZ]}, &stream)
							coarse = whole.view(half, half)
						}
						apply(k, &fine, &other, &coarse)
						return append(fine.data, whole.data...)
					}
					got, want := result(&k), result(&plain)
					for i := range want {
						if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
							t.Fatalf("%s %s of %v, coarse grid cut %v: number %d is %v, want %v", form, name, n, cut, i, got[i], want[i])
						}
					}
				}
			}
		}
	}
}

func BenchmarkOperators(b *testing.B) {
	n := [axes]int{256, 256, 16}
	stream := nas.Random(seed)
	u, r := random(n, &stream), random(n, &stream)
	coarse := random([axes]int{n[axisX] / 2, n[axisY] / 2, n[axisZ] / 2}, &stream)
	w := problems['A'].smoother
	for _, form := range append([]nas.Form{nas.Go}, nas.Runs(forms())...) {
		k := planesOf(form)
		for _, op := range []struct {
			name  string
			apply func()
		}{
			{"residual", func() { residual(&k, &r, &r, &u) }},
			{"smooth", func() { smooth(&k, &u, &r, &w) }},
			{"restrict", func() { restrict(&k, &coarse, &r) }},
			{"prolong", func() { prolong(&k, &u, &coarse) }},
		} {
			b.Run(op.name+"/"+string(form), func(b *testing.B) {
				for b.Loop() {
					op.apply()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n[axisX]*n[axisY]*n[axisZ]), "ns/point")
			})
		}
	}
}
