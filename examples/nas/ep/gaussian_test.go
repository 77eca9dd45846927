// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// reference is EP as it is defined, one pair after the other.
func reference(stream nas.Random, pairs int, sum *tally) {
	for range pairs {
		x := 2*stream.Next() - 1
		y := 2*stream.Next() - 1
		t := float64(x*x) + float64(y*y)
		if t > 1 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(t) / t)
		sum.sumX += x * f
		sum.sumY += y * f
		sum.annuli[int(max(math.Abs(x*f), math.Abs(y*f)))]++
	}
}

func TestBatch_AgreesWithTheDefinition(t *testing.T) {
	b := new(block)
	for _, batch := range []int{0, 1, 255} {
		var want tally
		reference(nas.Random(seed).Skipped(uint64(batch)*2*batchPairs), batchPairs, &want)
		for _, form := range append([]nas.Form{nas.Go}, nas.Runs(forms())...) {
			l := loopsOf(form)
			var got tally
			b.batch(&l, batch, &got)
			if got.annuli != want.annuli {
				t.Errorf("%s: batch %d has counts %v, want %v", form, batch, got.annuli, want.annuli)
			}
			if math.Abs(got.sumX-want.sumX) > 1e-9 || math.Abs(got.sumY-want.sumY) > 1e-9 {
				t.Errorf("%s: batch %d has sums %v, %v, want %v, %v", form, batch, got.sumX, got.sumY, want.sumX, want.sumY)
			}
		}
	}
}

func TestVerify_RefusesWrongSums(t *testing.T) {
	p := problems['S']
	right := func() *tally {
		s := &tally{sumX: p.sumX, sumY: p.sumY}
		s.annuli[0] = p.accepted
		return s
	}
	if !p.verify(right()) {
		t.Error("the published result is refused")
	}
	for name, spoil := range map[string]func(*tally){
		"sum X": func(s *tally) { s.sumX *= 1 + 2e-8 },
		"sum Y": func(s *tally) { s.sumY = math.NaN() },
		"count": func(s *tally) { s.annuli[1]++ },
	} {
		s := right()
		spoil(s)
		if p.verify(s) {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	work := new(block)
	for _, form := range append([]nas.Form{nas.Go}, nas.Runs(forms())...) {
		l := loopsOf(form)
		b.Run(string(form), func(b *testing.B) {
			var sum tally
			for i := 0; b.Loop(); i++ {
				work.batch(&l, i, &sum)
			}
			b.ReportMetric(2*batchPairs*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mop/s")
		})
		b.Run(string(form)+"/draw", func(b *testing.B) {
			for b.Loop() {
				l.draw(work, seed)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/blockPairs, "ns/pair")
		})
		b.Run(string(form)+"/transform", func(b *testing.B) {
			var sum tally
			n := draw(work, seed)
			for b.Loop() {
				l.transform(work, n, &sum)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/blockPairs, "ns/pair")
		})
	}
	b.Run("reference", func(b *testing.B) {
		var sum tally
		for i := 0; b.Loop(); i++ {
			reference(nas.Random(seed).Skipped(uint64(i)*2*batchPairs), batchPairs, &sum)
		}
		b.ReportMetric(2*batchPairs*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mop/s")
	})
}
