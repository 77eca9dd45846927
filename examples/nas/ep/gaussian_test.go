// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

func TestLog_AgreesWithMath(t *testing.T) {
	table := newLogTable()
	stream := nas.Random(seed)
	check := func(x float64) {
		got, want := table.log(x), math.Log(x)
		if math.Abs(got-want) > 0x1p-51*max(1, math.Abs(want)) {
			t.Fatalf("log(%x) is %v, want %v", x, got, want)
		}
	}
	for range 200_000 {
		x := stream.Next()
		check(x)
		check(x * 0x1p-60)
		check(1 - x*0x1p-20)
	}
	for i := range uint64(128) { // at the intervals' ends
		check(math.Float64frombits(logOrigin + i*logSpacing))
		check(math.Float64frombits(logOrigin + i*logSpacing - 1))
	}
}

// Just below 1, where log goes through zero, it keeps its relative precision.
func TestLog_NearOne(t *testing.T) {
	table := newLogTable()
	for e := 8; e <= 53; e++ {
		x := 1 - math.Ldexp(1, -e)
		if got, want := table.log(x), math.Log(x); math.Abs(got-want) > 0x1p-50*math.Abs(want) {
			t.Errorf("log(1-2^-%d) is %v, want %v", e, got, want)
		}
	}
	if got := table.log(1); got != 0 {
		t.Errorf("log(1) is %v, want 0", got)
	}
}

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
	b := &block{logs: newLogTable()}
	for _, batch := range []int{0, 1, 255} {
		var got, want tally
		b.batch(batch, &got)
		reference(nas.Random(seed).Skipped(uint64(batch)*2*batchPairs), batchPairs, &want)
		if got.annuli != want.annuli {
			t.Errorf("batch %d has counts %v, want %v", batch, got.annuli, want.annuli)
		}
		if math.Abs(got.sumX-want.sumX) > 1e-9 || math.Abs(got.sumY-want.sumY) > 1e-9 {
			t.Errorf("batch %d has sums %v, %v, want %v, %v", batch, got.sumX, got.sumY, want.sumX, want.sumY)
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
	work := &block{logs: newLogTable()}
	b.Run("ours", func(b *testing.B) {
		var sum tally
		for i := 0; b.Loop(); i++ {
			work.batch(i, &sum)
		}
		b.ReportMetric(2*batchPairs*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mop/s")
	})
	b.Run("reference", func(b *testing.B) {
		var sum tally
		for i := 0; b.Loop(); i++ {
			reference(nas.Random(seed).Skipped(uint64(i)*2*batchPairs), batchPairs, &sum)
		}
		b.ReportMetric(2*batchPairs*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mop/s")
	})
}
