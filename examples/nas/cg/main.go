// SPDX-License-Identifier: BSD-3-Clause

// CG is the conjugate gradient kernel: it finds the smallest eigenvalue of a
// large sparse matrix by inverse iteration, each step of which solves a system
// of equations by conjugate gradients. It measures irregular reads of memory,
// and a sum over all PEs every few hundred microseconds.
//
// It shows how a PE reads a distributed vector in place, from the memory of the
// PEs that own its parts, and how a sum that it needs anyway orders these reads, so
// that no barrier is left in a step; how what a far PE will read is sent to it, by
// put-with-signal, and travels while the sum does; and how PEs that all do the same
// additions spare themselves the second sum of each step.
//
//	gorun -np 2 cg -class A
package main

//go:generate go -C ../_asm run ./cg ../cg

import (
	"cmp"
	"fmt"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

func main() { nas.Main("CG", run, forms()...) }

func run(pe *shmem.PE, opt nas.Options) (nas.Report, error) {
	if _, err := opt.Algorithm(); err != nil {
		return nas.Report{}, err
	}
	p := problems[opt.Class]
	iterations := cmp.Or(opt.Iterations, p.iterations)
	timers := nas.NewTimers(opt.Timers, sections...)
	s, err := newSolver(pe, p, loopsOf(opt.Form), timers)
	if err != nil {
		return nas.Report{}, err
	}
	s.start()
	s.iterate() // untimed: touches all memory

	s.start()
	var zeta, residual float64
	seconds, spent, err := timers.Time(pe, func() error {
		for range iterations {
			var inverse float64
			inverse, residual = s.iterate()
			zeta = p.shift + inverse
		}
		return nil
	})
	if err != nil {
		return nas.Report{}, err
	}
	standard := iterations == p.iterations
	return nas.Report{
		Size:         p.rows,
		Iterations:   iterations,
		Seconds:      seconds,
		Operations:   p.operations() * float64(iterations),
		Operation:    "floating point",
		Verification: nas.Verdict(!standard || p.err(zeta) <= tolerance, standard),
		Results: []nas.Result{
			{Name: "Zeta", Text: fmt.Sprintf("%.13f", zeta)},
			{Name: "Error", Text: fmt.Sprintf("%.2e", p.err(zeta))},
			{Name: "Residual", Text: fmt.Sprintf("%.2e", residual)},
		},
		Sections: spent,
	}, nil
}
