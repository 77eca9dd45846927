// SPDX-License-Identifier: BSD-3-Clause

// IS is the integer sort kernel: it ranks integer keys by a bucket sort whose
// keys move to the PE that ranks them. It measures how fast a PE scatters small
// integers in its own memory, and the exchange of nearly all keys between all
// PEs. With -algo count no key moves: each PE counts its own keys of every value,
// and the counts are added up, which is another problem, and no rival's figure
// may be set beside it.
//
//	gorun -np 2 is -class A
package main

import (
	"cmp"
	"fmt"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

func main() { nas.Main("IS", run) }

func run(pe *shmem.PE, opt nas.Options) (nas.Report, error) {
	algorithm, err := opt.Algorithm("bucket", "count")
	if err != nil {
		return nas.Report{}, err
	}
	iterations := cmp.Or(opt.Iterations, classIterations)
	timers := nas.NewTimers(opt.Timers, sections...)
	r, err := newRanker(pe, problems[opt.Class], timers, algorithm == "count")
	if err != nil {
		return nas.Report{}, err
	}
	if _, err := r.rank(1); err != nil { // untimed: touches all memory
		return nas.Report{}, err
	}

	confirmed := 0
	seconds, spent, err := timers.Time(pe, func() error {
		for i := 1; i <= iterations; i++ {
			n, err := r.rank(i)
			if err != nil {
				return err
			}
			confirmed += n
		}
		return nil
	})
	if err != nil {
		return nas.Report{}, err
	}
	v, err := r.verify(confirmed)
	if err != nil {
		return nas.Report{}, err
	}
	tests := int64(partialTests * iterations)
	passed := v.confirmed == tests && v.disorder == 0 && !v.altered
	return nas.Report{
		Size:         r.size(),
		Iterations:   iterations,
		Seconds:      seconds,
		Operations:   float64(r.size()) * float64(iterations),
		Operation:    "keys ranked",
		Verification: nas.Verdict(passed, iterations == classIterations),
		Results: []nas.Result{
			{Name: "Algorithm", Text: algorithm},
			{Name: "Ranks confirmed", Text: fmt.Sprintf("%d of %d", v.confirmed, tests)},
			{Name: "Out of order", Text: fmt.Sprint(v.disorder)},
			{Name: "Same keys", Text: fmt.Sprint(!v.altered)},
		},
		Sections: spent,
	}, nil
}
