// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"slices"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// Integers add up to the same in any order.
func TestLoops_OfAnyLength(t *testing.T) {
	digits := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6}
	for _, form := range append([]nas.Form{nas.Go}, nas.Runs(forms())...) {
		l := loopsOf(form)
		for n := range digits {
			x := make([]float64, n)
			reduced, added := slices.Clone(digits), slices.Clone(digits)
			squares := 0.0
			for i := range x {
				x[i] = float64(i + 1)
				reduced[i] -= 2 * x[i]
				added[i] = x[i] + 2*added[i]
				squares += reduced[i] * reduced[i]
			}
			r, y := slices.Clone(digits), slices.Clone(digits)
			if got := l.reduce(r, 2, x); got != squares || !slices.Equal(r, reduced) {
				t.Errorf("%s: reduce of %d made %v with squares %v, want %v with %v", form, n, r, got, reduced, squares)
			}
			if l.addTo(x, 2, y); !slices.Equal(y, added) {
				t.Errorf("%s: addTo of %d made %v, want %v", form, n, y, added)
			}
		}
	}
}

func TestLoops_GiveTheSameBits(t *testing.T) {
	const n = 1003
	q, y := noise(2 * n)[n:], noise(n)
	run := func(l loops) (bits []uint64) {
		r := noise(n)
		numbers := append(r, l.reduce(r, 0.3, q))
		sum := slices.Clone(y)
		l.addTo(q, 0.7, sum)
		for _, x := range append(numbers, sum...) {
			bits = append(bits, math.Float64bits(x))
		}
		return bits
	}
	want := run(loopsOf(nas.Go))
	for _, form := range nas.Runs(forms()) {
		if got := run(loopsOf(form)); !slices.Equal(got, want) {
			t.Errorf("%s gives other bits than Go", form)
		}
	}
}

func BenchmarkReduce(b *testing.B) {
	r, q := noise(problems['A'].rows), noise(problems['A'].rows)
	for _, form := range append([]nas.Form{nas.Go}, nas.Runs(forms())...) {
		b.Run(string(form), func(b *testing.B) {
			l := loopsOf(form)
			for b.Loop() {
				l.reduce(r, 1e-9, q)
			}
			b.ReportMetric(float64(len(q)*b.N)/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
}
