// SPDX-License-Identifier: BSD-3-Clause

// GUPS updates random words of a table that is spread over all PEs. It follows
// the rules of HPC Challenge's RandomAccess, except that it lets no update get
// lost, where those allow 1 % of the words to end up wrong. It shows three ways to
// change what others change too, side by side:
//
//   - atomics: an AtomicXor for each update.
//   - put/get: each PE puts its updates where the owner of the words makes them.
//     It collects as many before it does as the rules allow, so that each put
//     carries several; a signal tells that they are there, and how many.
//   - batched: the atomics again, in a Batch session: the library collects.
//
// A thousand million updates per second are one GUPS.
//
//	gorun -np 2 gups -n 22
//	gorun -np 2 --fabric ofi gups -n 16
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
	updatesPerWord = 4
	maxLogWords    = 40
	lookAhead      = 1024 // updates that a PE may have in hand
)

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gups", flag.ContinueOnError)
	logWords := flags.Uint("n", 22, "base-two `logarithm` of the table's words, over all PEs")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *logWords > maxLogWords {
		return command.Usagef("-n %d is more than %d", *logWords, maxLogWords)
	}

	u, err := newUpdater(pe, *logWords)
	if err != nil {
		return err
	}
	return yard.Compare(pe, out, int(u.updates), []yard.Form{
		{Name: "atomics", Prepare: u.fill, Run: u.atomics, Check: u.check},
		{Name: "put/get", Prepare: u.fill, Run: u.puts, Check: u.check},
		{Name: "batched", Prepare: u.fill, Run: u.batched, Check: u.check},
	})
}
