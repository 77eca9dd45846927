// SPDX-License-Identifier: BSD-3-Clause

// Histogram counts random numbers in counters that are spread over all PEs. It
// shows three ways to add to memory that others add to as well, side by side:
//
//   - atomics: an AtomicInc for each number. Nothing is stored anywhere else, and
//     nobody waits for anybody, but each is a message of its own if it goes far.
//   - put/get: each PE counts on its own, and puts the counts where their owner
//     adds them up. That needs a counter on each PE for every counter there is.
//   - batched: the atomics again, in a Batch session, in which the library sends
//     those that go to the same PE together. The program is the same.
//
// Run it near and far: near, the session changes nothing, and far nearly everything.
// Few counters and many numbers favour put/get, many counters do not:
//
//	gorun -np 2 histogram
//	gorun -np 2 --fabric ofi histogram -n 16
package main

import (
	"flag"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

func main() { command.Main(run) }

const maxLog = 30 // of the numbers, and of the counters

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("histogram", flag.ContinueOnError)
	logNumbers := flags.Uint("n", 20, "base-two `logarithm` of the numbers that each PE counts")
	logCounters := flags.Uint("c", 10, "base-two `logarithm` of the counters, over all PEs")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *logNumbers > maxLog || *logCounters > maxLog {
		return command.Usagef("-n %d or -c %d is more than %d", *logNumbers, *logCounters, maxLog)
	}

	h, err := newHistogram(pe, 1<<*logNumbers, 1<<*logCounters)
	if err != nil {
		return err
	}
	return yard.Compare(pe, out, pe.NPEs()<<*logNumbers, []yard.Form{
		{Name: "atomics", Prepare: h.clear, Run: h.atomics, Check: h.check},
		{Name: "put/get", Prepare: h.clear, Run: h.puts, Check: h.check},
		{Name: "batched", Prepare: h.clear, Run: h.batched, Check: h.check},
	})
}
