// SPDX-License-Identifier: BSD-3-Clause

// FT is the Fourier transform kernel: it solves a partial differential equation
// by Fourier transforms in three dimensions. It measures the bandwidth of
// memory, and the exchange of nearly all data between all PEs, once a step.
//
// It shows a global transpose without messages: PEs take the numbers of a
// transform up where other PEs have left them, row by row, so that what would
// be a pack, an exchange of messages and an unpack is how a loop reads.
//
//	gorun -np 2 ft -class A
package main

//go:generate go -C ../_asm run ./ft ../ft

import (
	"cmp"
	"fmt"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

func main() { nas.Main("FT", run, forms()...) }

func run(pe *shmem.PE, opt nas.Options) (nas.Report, error) {
	if _, err := opt.Algorithm(); err != nil {
		return nas.Report{}, err
	}
	p := problems[opt.Class]
	iterations := cmp.Or(opt.Iterations, len(p.checksums))
	timers := nas.NewTimers(opt.Timers, sections...)
	s, err := newSolver(pe, p, loopsOf(opt.Form), timers)
	if err != nil {
		return nas.Report{}, err
	}
	s.prepare() // untimed: touches all memory
	s.forward()
	s.step()

	checksums := make([]complex128, iterations)
	seconds, spent, err := timers.Time(pe, func() error {
		s.prepare()
		s.forward()
		for i := range checksums {
			s.step()
			checksums[i] = s.checksum()
		}
		return nil
	})
	if err != nil {
		return nas.Report{}, err
	}
	return nas.Report{
		Size:         p.points(),
		Iterations:   iterations,
		Seconds:      seconds,
		Operations:   p.operations(iterations),
		Operation:    "floating point",
		Verification: nas.Verdict(p.err(checksums) <= tolerance, iterations == len(p.checksums)),
		Results: []nas.Result{
			{Name: "Last checksum", Text: fmt.Sprintf("%.12f", checksums[iterations-1])},
			{Name: "Largest error", Text: fmt.Sprintf("%.2e", p.err(checksums))},
		},
		Sections: spent,
	}, nil
}
