// SPDX-License-Identifier: BSD-3-Clause

// Prk-transpose is the Transpose kernel of the Parallel Research Kernels: it adds
// the transpose of a square matrix to another, over and over.
//
// It teaches pulling: whoever needs memory of others reads it, and they take no
// part. A PE holds some rows, and needs the same columns of all others' rows.
// Where Ptr reaches these, it transposes straight out of them, and nothing is
// copied on the way. Where it does not, one GetBlocks brings the block, and
// the same loop transposes it. Two barriers for each iteration are all that
// there is of synchronization: nobody changes a matrix that is still read.
//
//	gorun -np 4 prk-transpose -n 2048
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
	flags := flag.NewFlagSet("prk-transpose", flag.ContinueOnError)
	n := flags.Int("n", 1024, "`order` of the matrices")
	iterations := flags.Int("iters", 10, "timed `iterations`")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *n < 1 || *n > 1<<16 || *iterations < 1 {
		return command.Usagef("-n %d is not in [1, 65536], or -iters %d is less than 1", *n, *iterations)
	}

	m, err := newMatrices(pe, *n)
	if err != nil {
		return err
	}
	m.step() // untimed: touches all memory
	seconds, err := yard.Seconds(pe, func() {
		for range *iterations {
			m.step()
		}
	})
	if err != nil {
		return err
	}
	bytes := 2 * 8 * float64(*n) * float64(*n) * float64(*iterations) // one matrix is read, one is written
	return yard.Report(pe, out, m.check(*iterations+1),
		yard.Line{Key: "Matrix order", Format: "%d", Value: *n},
		yard.Line{Key: "Iterations", Format: "%d", Value: *iterations},
		yard.Line{Key: "PEs in reach", Format: "%d", Value: m.reached()},
		yard.Line{Key: "Seconds", Format: "%.4f", Value: seconds},
		yard.Line{Key: "MB/s", Format: "%.1f", Value: bytes / seconds / 1e6},
	)
}
