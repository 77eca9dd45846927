// SPDX-License-Identifier: BSD-3-Clause

// Toposort puts a sparse matrix in upper triangular form, of which somebody has
// shuffled the rows and the columns, as the Bale benchmark of this name does.
//
// It teaches queues without locks. A row with a single element left goes to the
// end of what is not yet placed, and with it the element's column; then each row
// that has an element in this column has one fewer. One AtomicFetchAdd on one word
// of that row counts its elements down, and sums up their columns, too: the PE that
// leaves one element learns in the same instant that it has, and in which column.
// It queues the row with its owner: AtomicFetchInc gives it a slot of its own, which
// it fills by PutValue, and the owner waits for its slots to be filled, one after
// the other. No row is queued twice, and each is in the end, so a PE is done when it
// has taken as many as it owns: nothing else has to be agreed on.
//
//	gorun -np 4 toposort -n 15
package main

import (
	"flag"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

func main() { command.Main(run) }

const (
	maxLog     = 24
	maxOverRow = 64 // elements beside the diagonal's
)

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("toposort", flag.ContinueOnError)
	logRows := flags.Uint("n", 13, "base-two `logarithm` of the rows")
	over := flags.Int("e", 8, "`elements` of a row beside the diagonal's, at most")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *logRows > maxLog || *over < 0 || *over > maxOverRow {
		return command.Usagef("-n %d is more than %d, or -e %d is not in [0, %d]", *logRows, maxLog, *over, maxOverRow)
	}

	m := matrix{n: 1 << *logRows, over: *over}
	s, err := newSorter(pe, m)
	if err != nil {
		return err
	}
	seconds, err := yard.Seconds(pe, s.sort)
	if err != nil {
		return err
	}
	elements, err := yard.Sum(pe, s.elements)
	if err != nil {
		return err
	}
	wrong, err := s.check()
	if err != nil {
		return err
	}
	return yard.Report(pe, out, wrong,
		yard.Line{Key: "Rows", Format: "%d", Value: m.n},
		yard.Line{Key: "Elements", Format: "%d", Value: elements},
		yard.Line{Key: "Seconds", Format: "%.4f", Value: seconds},
		yard.Line{Key: "Thousand rows/s", Format: "%.2f", Value: float64(m.n) / seconds / 1e3},
	)
}
