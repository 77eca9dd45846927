// SPDX-License-Identifier: BSD-3-Clause

// GUPS updates random words of a table that is spread over all PEs, and reports
// giga-updates per second. It follows the rules of HPC Challenge's
// RandomAccess, except that it lets no update get lost: where those allow 1 %
// of the words to end up wrong, every update here is an atomic exclusive or.
//
//	gorun -np 2 gups -n 22
package main

import (
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/shmem"
)

func main() { command.Main(run) }

const (
	updatesPerWord = 4
	maxLogWords    = 40
)

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gups", flag.ContinueOnError)
	logWords := flags.Uint("n", 22, "base-two `logarithm` of the table's words, over all PEs")
	if err := command.Parse(flags, args, out); err != nil {
		return err
	}
	if *logWords > maxLogWords {
		return command.Usagef("-n %d is more than %d", *logWords, maxLogWords)
	}
	if flags.NArg() > 0 {
		return command.Usagef("unexpected argument %q", flags.Arg(0))
	}
	updates := uint64(updatesPerWord) << *logWords

	t := newTable(*logWords, pe.NPEs())
	words, err := shmem.Alloc[uint64](pe, t.room())
	if err != nil {
		return err
	}
	mine := words.Local()[:t.owned(pe.MyPE())]
	t.fill(mine, pe.MyPE())

	pe.BarrierAll()
	start := time.Now()
	update(t, words, updates, pe.MyPE())
	pe.BarrierAll() // completes the updates
	elapsed := time.Since(start)

	wrong, err := sum(pe, int64(t.check(mine, pe.MyPE(), updates)))
	if err != nil || pe.MyPE() != 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "Table words = %d\nUpdates     = %d\nSeconds     = %.4f\nGUPS        = %.6f\nErrors      = %d\n",
		uint64(1)<<*logWords, updates, elapsed.Seconds(), float64(updates)/elapsed.Seconds()/1e9, wrong)
	if err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d words are wrong", wrong, uint64(1)<<*logWords)
	}
	return nil
}

// update makes PE me's part of the updates.
func update(t *table, words shmem.Sym[uint64], updates uint64, me int) {
	npes := uint64(t.npes())
	first, end := updates*uint64(me)/npes, updates*uint64(me+1)/npes
	v := streamAt(first)
	for range end - first {
		v = step(v)
		owner, i := t.place(v)
		shmem.AtomicXor(words.At(i), v, owner)
	}
}

// sum returns the sum of v over all PEs.
func sum(pe *shmem.PE, v int64) (int64, error) {
	x, err := shmem.Alloc[int64](pe, 1)
	if err != nil {
		return 0, err
	}
	x.Local()[0] = v
	shmem.SumReduce(pe.World(), x, x)
	return x.Local()[0], nil
}
