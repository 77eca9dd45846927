// SPDX-License-Identifier: BSD-3-Clause

// Prk-stencil is the Stencil kernel of the Parallel Research Kernels: it applies
// a star of radius 2 to a square grid, over and over.
//
// It teaches the halo exchange. A grid is cut into tiles, one a PE, and each tile
// has a rim for what it needs of its neighbours'. PutBlocks puts an edge straight
// from the tile into the neighbour's rim, columns as well as rows: nothing is packed
// or unpacked. Two signals for each edge replace all barriers: one says that the
// rim is filled, the other, in the opposite direction, that it has been read and
// may be filled again. So PEs wait for their neighbours only.
//
//	gorun -np 4 prk-stencil -n 2000 -iters 20
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
	flags := flag.NewFlagSet("prk-stencil", flag.ContinueOnError)
	n := flags.Int("n", 1000, "`points` of an edge of the grid")
	iterations := flags.Int("iters", 10, "timed `iterations`")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *n < 1 || *n > 1<<16 || *iterations < 1 {
		return command.Usagef("-n %d is not in [1, 65536], or -iters %d is less than 1", *n, *iterations)
	}
	columns, rows := tiling(pe.NPEs())
	if *n/rows < 2*radius || *n/columns < 2*radius {
		return command.Usagef("%d PEs make %d by %d tiles, and -n %d leaves them less than %d points wide",
			pe.NPEs(), rows, columns, *n, 2*radius)
	}

	t, err := newTile(pe, *n)
	if err != nil {
		return err
	}
	t.step() // untimed: touches all memory
	seconds, err := yard.Seconds(pe, func() {
		for range *iterations {
			t.step()
		}
	})
	if err != nil {
		return err
	}
	active := float64(*n-2*radius) * float64(*n-2*radius)
	return yard.Report(pe, out, t.check(*iterations+1),
		yard.Line{Key: "Grid points", Format: "%d", Value: *n * *n},
		yard.Line{Key: "Iterations", Format: "%d", Value: *iterations},
		yard.Line{Key: "Seconds", Format: "%.4f", Value: seconds},
		yard.Line{Key: "Mflop/s", Format: "%.1f", Value: flops * active * float64(*iterations) / seconds / 1e6},
	)
}
