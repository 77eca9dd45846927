// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// Every form gives the bits that Go's gives, and writes nowhere else.
func TestForms_GiveTheSameBits(t *testing.T) {
	const length, x = 3 * lanes, lanes // of rows, and the first number that matters
	plain := loopsOf(nas.Go)
	operations := map[string]func(l *loops, r rows, c []columns){
		"load":  func(l *loops, r rows, c []columns) { l.load(c, r, x) },
		"store": func(l *loops, r rows, c []columns) { l.store(r, c, x) },
		"loadAcross": func(l *loops, r rows, c []columns) {
			for y := 0; y+lanes <= len(r); y += lanes {
				l.loadAcross(c[:min(length, len(c))], r[y:])
			}
		},
		"storeAcross": func(l *loops, r rows, c []columns) {
			for y := 0; y+lanes <= len(r); y += lanes {
				l.storeAcross(r[y:], c[:min(length, len(c))])
			}
		},
		"evolve": func(l *loops, r rows, c []columns) { l.evolve(c, r, x, decay(length), decay(len(r)), 0.7) },
		"transform": func(l *loops, r rows, c []columns) {
			tr := newTransform(len(c), *l)
			load(tr.x, r, x)
			copy(c, tr.run())
		},
	}
	for _, form := range nas.Runs(forms()) {
		l := loopsOf(form)
		for name, apply := range operations {
			for n := 4; n <= 512; n *= 2 {
				result := func(l *loops) []complex128 {
					block := noise(n * length)
					block[x], block[length+x] = 0, complex(math.Copysign(0, -1), 0)
					c := make([]columns, n)
					load(c, rowsOf(block, length), 0)
					apply(l, rowsOf(block, length), c)
					out := make([]complex128, n*lanes)
					store(rowsOf(out, lanes), c, 0)
					return append(block, out...)
				}
				got, want := result(&l), result(&plain)
				for i := range want {
					if !sameBits(real(got[i]), real(want[i])) || !sameBits(imag(got[i]), imag(want[i])) {
						t.Fatalf("%s %s of %d rows: number %d is %v, want %v", form, name, n, i, got[i], want[i])
					}
				}
			}
		}
	}
}

func sameBits(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }

func BenchmarkLoops(b *testing.B) {
	const n = 256
	block := noise(n * lanes)
	lengthwise, across := rowsOf(block, lanes), rowsOf(block, n)
	for _, form := range append([]nas.Form{nas.Go}, nas.Runs(forms())...) {
		l := loopsOf(form)
		tr := newTransform(n, l)
		for _, op := range []struct {
			name  string
			apply func()
		}{
			{"transform", func() { tr.run() }},
			{"load", func() { l.load(tr.x, lengthwise, 0) }},
			{"store", func() { l.store(lengthwise, tr.y, 0) }},
			{"loadAcross", func() { l.loadAcross(tr.x, across) }},
			{"storeAcross", func() { l.storeAcross(across, tr.y) }},
		} {
			b.Run(op.name+"/"+string(form), func(b *testing.B) {
				for b.Loop() {
					op.apply()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*lanes), "ns/number")
			})
		}
	}
}
