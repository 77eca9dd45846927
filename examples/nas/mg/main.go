// SPDX-License-Identifier: BSD-3-Clause

// MG is the multigrid kernel: it solves Poisson's equation on a cube with
// periodic ends, by V-cycles over a hierarchy of ever coarser grids. It measures
// memory bandwidth on the fine grids and latency on the coarse ones.
//
// The technique to learn from it is the exchange of ghosts by put-with-signal:
// each PE puts the faces of its part into its neighbours' memory together with
// the signal that they are there, and waits for nothing but its neighbours'
// signals. Where a grid has become so small that the exchanges would take longer
// than the computation, there are none: every PE computes the whole of it.
//
//	gorun -np 2 mg -class A
package main

//go:generate go -C ../_asm run ./mg ../mg

import (
	"cmp"
	"fmt"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

func main() { nas.Main("MG", run, forms()...) }

func run(pe *shmem.PE, opt nas.Options) (nas.Report, error) {
	if _, err := opt.Algorithm(); err != nil {
		return nas.Report{}, err
	}
	work := problems[opt.Class]
	iterations := cmp.Or(opt.Iterations, work.iterations)
	t, err := newTorus(pe.MyPE(), pe.NPEs(), work.edge())
	if err != nil {
		return nas.Report{}, err
	}
	timers := nas.NewTimers(opt.Timers, sections...)
	m, err := newMultigrid(pe, work, t, planesOf(opt.Form), timers)
	if err != nil {
		return nas.Report{}, err
	}
	m.reset()
	m.finestResidual() // untimed: touches all memory
	m.cycle()

	m.reset()
	var first, norm float64
	seconds, spent, err := timers.Time(pe, func() error {
		m.finestResidual()
		first = m.norm()
		for range iterations {
			m.cycle()
		}
		norm = m.norm()
		return nil
	})
	if err != nil {
		return nas.Report{}, err
	}
	standard := iterations == work.iterations
	return nas.Report{
		Size:         work.points(),
		Iterations:   iterations,
		Seconds:      seconds,
		Operations:   58 * float64(iterations) * float64(work.points()),
		Operation:    "floating point",
		Verification: nas.Verdict(!standard || work.verify(norm), standard),
		Results: []nas.Result{
			{Name: "First L2 norm", Text: fmt.Sprintf("%.13e", first)},
			{Name: "L2 norm", Text: fmt.Sprintf("%.13e", norm)},
			{Name: "Deviation", Text: fmt.Sprintf("%.1e", work.deviation(norm))},
		},
		Sections: spent,
	}, nil
}
