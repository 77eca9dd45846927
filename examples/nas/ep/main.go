// SPDX-License-Identifier: BSD-3-Clause

// EP is the embarrassingly parallel kernel: it makes pairs of Gaussian random
// numbers and counts them by size. The PEs meet only to add up their sums, so
// what it measures is arithmetic.
//
//	gorun -np 2 ep -class A
package main

//go:generate go -C ../_asm run ./ep ../ep

import (
	"cmp"
	"fmt"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

func main() { nas.Main("EP", run, forms()...) }

// The sections that -timers reports.
const (
	timeBatches = iota
	timeReduction
)

// run does the class's work opt.Iterations times, once by default.
func run(pe *shmem.PE, opt nas.Options) (nas.Report, error) {
	if _, err := opt.Algorithm(); err != nil {
		return nas.Report{}, err
	}
	work := problems[opt.Class]
	timers := nas.NewTimers(opt.Timers, "Batches", "Reduction")
	iterations := cmp.Or(opt.Iterations, 1)
	b, l := new(block), loopsOf(opt.Form)
	total, err := nas.NewSum(pe, 2+len(tally{}.annuli))
	if err != nil {
		return nas.Report{}, err
	}

	var sum tally
	seconds, spent, err := timers.Time(pe, func() error {
		for range iterations {
			sum = tally{}
			first, end := yard.Share(work.pairs/batchPairs, pe.MyPE(), pe.NPEs())
			for batch := first; batch < end; batch++ {
				b.batch(&l, batch, &sum)
			}
			timers.Lap(timeBatches)
			sum.addUp(total)
			timers.Lap(timeReduction)
		}
		return nil
	})
	if err != nil {
		return nas.Report{}, err
	}
	numbers := 2 * work.pairs
	return nas.Report{
		Size:         numbers,
		Iterations:   iterations,
		Seconds:      seconds,
		Operations:   float64(numbers) * float64(iterations),
		Operation:    "Random numbers generated",
		Verification: nas.Verdict(work.verify(&sum), iterations == 1),
		Results:      results(&sum),
		Sections:     spent,
	}, nil
}

// batch adds batch number i of the stream to sum.
func (b *block) batch(l *loops, i int, sum *tally) {
	stream := nas.Random(seed).Skipped(uint64(i) * 2 * batchPairs)
	for range batchPairs / blockPairs {
		l.transform(b, l.draw(b, stream), sum)
		stream = stream.Skipped(2 * blockPairs)
	}
}

func results(sum *tally) []nas.Result {
	r := []nas.Result{
		{Name: "Sum X", Text: fmt.Sprintf("%.15e", sum.sumX)},
		{Name: "Sum Y", Text: fmt.Sprintf("%.15e", sum.sumY)},
		{Name: "Accepted pairs", Text: fmt.Sprint(sum.accepted())},
	}
	for i, n := range sum.annuli[:rings] {
		r = append(r, nas.Result{Name: fmt.Sprintf("Annulus %d", i), Text: fmt.Sprint(n)})
	}
	return r
}

// addUp makes t the sum of all PEs' tallies, all numbers at once: counts below
// 2^53 are exact as floating-point numbers.
func (t *tally) addUp(sum *nas.Sum) {
	parts := []float64{t.sumX, t.sumY}
	for _, n := range t.annuli {
		parts = append(parts, float64(n))
	}
	all := sum.Of(parts...)
	t.sumX, t.sumY = all[0], all[1]
	for i := range t.annuli {
		t.annuli[i] = int64(all[2+i])
	}
}
