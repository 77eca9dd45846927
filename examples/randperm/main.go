// SPDX-License-Identifier: BSD-3-Clause

// Randperm makes a random permutation by throwing darts.
//
// It teaches to claim by compare and swap. Each PE throws its numbers at random
// places of a board that is spread over all PEs and has twice as many places as
// there are numbers. AtomicCompareSwap sticks a dart where no other is, and says so;
// whoever hits another's throws again. Nobody owns the right to a place before, and
// there is no lock. Read from one end to the other, the darts are the permutation:
// a SumExclusiveScan tells each PE how many darts stick on the PEs before it, which
// is where its own go.
//
//	gorun -np 4 randperm -n 18
package main

import (
	"flag"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

func main() { command.Main(run) }

const maxLog = 30

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("randperm", flag.ContinueOnError)
	logNumbers := flags.Uint("n", 16, "base-two `logarithm` of the numbers to permute")
	seed := flags.Uint64("seed", 1, "`seed` of the random throws")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *logNumbers > maxLog {
		return command.Usagef("-n %d is more than %d", *logNumbers, maxLog)
	}

	b, err := newBoard(pe, 1<<*logNumbers, *seed)
	if err != nil {
		return err
	}
	throws := 0
	seconds, err := yard.Seconds(pe, func() {
		throws = b.throw()
		pe.BarrierAll() // all darts stick
		b.gather()
	})
	if err != nil {
		return err
	}
	if throws, err = yard.Sum(pe, throws); err != nil {
		return err
	}
	wrong, err := b.check()
	if err != nil {
		return err
	}
	return yard.Report(pe, out, wrong,
		yard.Line{Key: "Numbers", Format: "%d", Value: b.n},
		yard.Line{Key: "Throws", Format: "%d", Value: throws},
		yard.Line{Key: "Seconds", Format: "%.4f", Value: seconds},
		yard.Line{Key: "Mthrows/s", Format: "%.3f", Value: float64(throws) / seconds / 1e6},
	)
}
