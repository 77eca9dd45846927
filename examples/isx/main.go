// SPDX-License-Identifier: BSD-3-Clause

// Isx sorts integers by ISx's rules (Hanebutte and Hemstad 2015): each PE draws as
// many keys, whatever the number of PEs, and each comes to hold those of an equal
// part of the range, sorted.
//
// It teaches reservation. Nobody knows before how many keys a PE will get, and
// from whom. A sender reserves room for all its keys in a target's memory by one
// AtomicFetchAdd on the target's counter, and puts them behind what others have
// reserved. No counts are exchanged, as NAS IS does, and nobody waits until the
// barrier at the end, after which the counter says how many keys have come.
//
//	gorun -np 4 isx -n 20
package main

import (
	"errors"
	"flag"
	"io"
	"math"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

func main() { command.Main(run) }

const maxLog = 26

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("isx", flag.ContinueOnError)
	logKeys := flags.Uint("n", 20, "base-two `logarithm` of the keys that each PE draws")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *logKeys > maxLog {
		return command.Usagef("-n %d is more than %d", *logKeys, maxLog)
	}
	if pe.NPEs() > math.MaxInt32>>*logKeys {
		return command.Usagef("%d PEs make keys of more than 31 bits with -n %d", pe.NPEs(), *logKeys)
	}

	s, err := newSorter(pe, *logKeys)
	if err != nil {
		return err
	}
	if err := s.exchange(); err != nil { // untimed: touches all memory
		return err
	}
	s.sort()
	s.reset()
	var full error
	seconds, err := yard.Seconds(pe, func() {
		full = s.exchange()
		s.sort()
	})
	if err = errors.Join(err, full); err != nil {
		return err
	}
	wrong, err := s.check()
	if err != nil {
		return err
	}
	keys := pe.NPEs() << *logKeys
	return yard.Report(pe, out, wrong,
		yard.Line{Key: "Keys", Format: "%d", Value: keys},
		yard.Line{Key: "Seconds", Format: "%.4f", Value: seconds},
		yard.Line{Key: "Million keys/s", Format: "%.2f", Value: float64(keys) / seconds / 1e6},
	)
}
