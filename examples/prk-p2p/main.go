// SPDX-License-Identifier: BSD-3-Clause

// Prk-p2p is the Synch_p2p kernel of the Parallel Research Kernels: it sweeps over
// a grid in which each point depends on those to its left, above, and between
// these two.
//
// It teaches the pipeline. PEs hold columns, and each can begin a row when its left
// neighbour has ended it, so that a wave runs over all of them. A PE hands each
// row on by one PutSignal to its right neighbour: a word, and the signal that it
// is there. Every row has a signal of its own, because nothing orders two puts.
// There is no barrier: one sweep starts when the last point of the sweep before
// has come back to the first. With -g, several rows go together: fewer messages,
// and a wave that starts more slowly.
//
//	gorun -np 2 prk-p2p -m 1000 -n 1000
//	gorun -np 2 --fabric ofi prk-p2p -g 20
package main

import (
	"flag"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

func main() { command.Main(run) }

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("prk-p2p", flag.ContinueOnError)
	columns := flags.Int("m", 1000, "`columns` of the grid")
	rows := flags.Int("n", 1000, "`rows` of the grid")
	group := flags.Int("g", 1, "`rows` that go to the next PE together")
	sweeps := flags.Int("iters", 10, "timed `sweeps`")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *columns < 2 || *columns > 1<<16 || *rows < 2 || *rows > 1<<16 || *group < 1 || *sweeps < 1 {
		return command.Usagef("-m %d or -n %d is not in [2, 65536], or -g %d or -iters %d is less than 1",
			*columns, *rows, *group, *sweeps)
	}
	if *columns-1 < pe.NPEs() {
		return command.Usagef("%d PEs are more than -m %d has columns to compute", pe.NPEs(), *columns)
	}

	g, err := newGrid(pe, *rows, *columns, *group)
	if err != nil {
		return err
	}
	g.sweep() // untimed: touches all memory
	seconds, err := yard.Seconds(pe, func() {
		for range *sweeps {
			g.sweep()
		}
	})
	if err != nil {
		return err
	}
	const flops = 2 // for each point
	points := float64(*rows-1) * float64(*columns-1) * float64(*sweeps)
	return yard.Report(pe, out, g.check(),
		yard.Line{Key: "Grid points", Format: "%d", Value: *rows * *columns},
		yard.Line{Key: "Rows together", Format: "%d", Value: *group},
		yard.Line{Key: "Sweeps", Format: "%d", Value: *sweeps},
		yard.Line{Key: "Seconds", Format: "%.4f", Value: seconds},
		yard.Line{Key: "Mflop/s", Format: "%.1f", Value: flops * points / seconds / 1e6},
	)
}
