// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// noise returns n numbers.
func noise(n int) []float64 {
	stream := nas.Random(seed)
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i] = stream.Next()
	}
	return numbers
}

// Rows of every length, in stripes of which some rows, and one stripe, are empty.
func TestForms_GiveTheSameBits(t *testing.T) {
	const columns = 2*width + 5
	stream := nas.Random(seed)
	b := builder{start: []int{0}}
	for row := range 70 {
		for range row {
			c := uint32(stream.Next() * width)
			if row%3 == 0 {
				c = columns - 1 - c%5
			}
			b.columns, b.values = append(b.columns, c), append(b.values, stream.Next())
		}
		b.start = append(b.start, len(b.values))
	}
	m := b.matrix(columns)
	p := noise(padded(columns))
	want := make([]float64, len(b.start)-1)
	m.multiply(want, p, multiply)
	for _, form := range nas.Runs(forms()) {
		got := append(noise(len(want)), 42)
		m.multiply(got[:len(want)], p, loopsOf(form).multiply)
		for i := range want {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("%s: row %d is %v, want %v", form, i, got[i], want[i])
			}
		}
		if got[len(want)] != 42 {
			t.Errorf("%s wrote behind the last row", form)
		}
		m.multiply(nil, p, loopsOf(form).multiply) // a PE without rows
	}
}

func BenchmarkMultiply(b *testing.B) {
	p := problems['S']
	m := newMatrix(p, 0, p.rows)
	x, q := noise(padded(p.rows)), make([]float64, p.rows)
	for _, form := range append([]nas.Form{nas.Go}, nas.Runs(forms())...) {
		b.Run(string(form), func(b *testing.B) {
			for b.Loop() {
				m.multiply(q, x, loopsOf(form).multiply)
			}
			b.ReportMetric(2*78148*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mflop/s")
		})
	}
}
