// SPDX-License-Identifier: BSD-3-Clause

// Nbody moves bodies that attract each other, each of them all others.
//
// It teaches the systolic ring. A PE keeps its own bodies, and a copy of each PE's
// bodies travels around the ring of PEs: while a PE computes how the copy that is
// with it attracts its own, PutSignalNBI already sends that to the right neighbour,
// and the left one sends the next. Two buffers are enough, whatever the number of
// PEs: a signal says that a copy is there, and another, in the opposite direction,
// that a buffer is free. So nobody ever holds all bodies, and if computing takes
// longer than sending, sending takes no time.
//
//	gorun -np 4 nbody -n 2000 -steps 10
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
	flags := flag.NewFlagSet("nbody", flag.ContinueOnError)
	n := flags.Int("n", 1000, "`bodies`")
	steps := flags.Int("steps", 10, "`steps`")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *n < 1 || *n > 1<<20 || *steps < 1 {
		return command.Usagef("-n %d is not in [1, 1048576], or -steps %d is less than 1", *n, *steps)
	}

	c, err := newCluster(pe, *n)
	if err != nil {
		return err
	}
	c.attract()
	before, err := c.total()
	if err != nil {
		return err
	}
	seconds, err := yard.Seconds(pe, func() {
		for range *steps {
			c.step()
		}
	})
	if err != nil {
		return err
	}
	after, err := c.total()
	if err != nil {
		return err
	}
	wrong, err := c.check(before, after)
	if err != nil {
		return err
	}
	pairs := float64(*n) * float64(*n) * float64(*steps)
	return yard.Report(pe, out, wrong,
		yard.Line{Key: "Bodies", Format: "%d", Value: *n},
		yard.Line{Key: "Steps", Format: "%d", Value: *steps},
		yard.Line{Key: "Seconds", Format: "%.4f", Value: seconds},
		yard.Line{Key: "Million pairs/s", Format: "%.2f", Value: pairs / seconds / 1e6},
		yard.Line{Key: "Energy before", Format: "%.9f", Value: before.energy()},
		yard.Line{Key: "Energy after", Format: "%.9f", Value: after.energy()},
	)
}
