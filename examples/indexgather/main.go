// SPDX-License-Identifier: BSD-3-Clause

// Indexgather reads random words of a table that is spread over all PEs. It
// shows three ways to fetch what lies everywhere, side by side:
//
//   - atomics: an AtomicFetch for each word. The PE waits for each of them: the
//     rate is one over the latency.
//   - put/get: a GetNBI for each word and one Quiet at the end. The latencies
//     overlap, but each is a message, and an answer.
//   - batched: a get can't be held back, since somebody waits for it, but puts
//     can. So in place of getting, PEs put what they want to know where the owner
//     looks, and owners put the answers back: twice as many operations, which a
//     Batch session sends many at a time.
//
// Run it near and far: near, all come to loads and stores, and far to messages of
// which only the session saves most:
//
//	gorun -np 2 indexgather
//	gorun -np 2 --fabric ofi indexgather -n 14
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
	maxLog = 30   // of the reads, and of the table
	window = 1024 // reads of a PE that are asked for at a time
)

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("indexgather", flag.ContinueOnError)
	logReads := flags.Uint("n", 19, "base-two `logarithm` of the words that each PE reads")
	logWords := flags.Uint("t", 20, "base-two `logarithm` of the table's words, over all PEs")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *logReads > maxLog || *logWords > maxLog {
		return command.Usagef("-n %d or -t %d is more than %d", *logReads, *logWords, maxLog)
	}

	g, err := newGather(pe, 1<<*logReads, 1<<*logWords)
	if err != nil {
		return err
	}
	return yard.Compare(pe, out, pe.NPEs()<<*logReads, []yard.Form{
		{Name: "atomics", Prepare: g.clear, Run: g.atomics, Check: g.check},
		{Name: "put/get", Prepare: g.clear, Run: g.gets, Check: g.check},
		{Name: "batched", Prepare: g.clear, Run: g.batched, Check: g.check},
	})
}
