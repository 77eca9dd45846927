// SPDX-License-Identifier: BSD-3-Clause

// Microbench measures the library's operations one by one and prints one
// figure a line: name, value, unit. Every figure's data is checked: a wrong
// result ends the job with status 1.
//
//	gorun -np 2 microbench p2p    transfers, atomics and signals from PE 0 to PE 1
//	gorun -np 2 microbench away   some of them while PE 1 sleeps, and while it computes
//	gorun -np 4 microbench coll   collectives of all PEs
//	gorun -np 2 microbench gups   random atomic updates by all PEs
//	gorun -np 2 microbench lock   one lock that all PEs want
//	gorun -np 2 microbench init   time to start and to end, memory
//
// BENCH_T is the time for each figure, in seconds; 0.08 if unset.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/shmem"
)

// It calls Init itself, where other programs use [shmem.Main], to time it.
func main() {
	start := time.Now()
	pe, err := shmem.Init()
	took := time.Since(start)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := command.Output(pe)
	err = command.Exit(pe, run(pe, os.Args[1:], os.Getenv("BENCH_T"), took, out))
	if err == nil {
		start = time.Now()
		err = pe.Finalize()
		took = time.Since(start)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "PE %d: %v\n", pe.MyPE(), err)
		os.Exit(1)
	}
	if os.Args[1] == "init" {
		figure(out, "finalize_s", took.Seconds(), "s")
	}
}

// run measures the mode that args name. benchT is the text of BENCH_T.
func run(pe *shmem.PE, args []string, benchT string, initTook time.Duration, out io.Writer) error {
	want := 80 * time.Millisecond
	if benchT != "" {
		seconds, err := strconv.ParseFloat(benchT, 64)
		if err != nil || !(seconds >= 0 && seconds < 3600) {
			return command.Usagef("BENCH_T=%q is no time in seconds", benchT)
		}
		want = time.Duration(seconds * float64(time.Second))
	}
	if len(args) != 1 {
		return command.Usagef("want one of p2p, away, coll, gups, lock, init")
	}
	if args[0] == "init" {
		return reportInit(pe, initTook, out)
	}
	b, err := newBench(pe, want, out)
	if err != nil {
		return err
	}
	switch args[0] {
	case "p2p":
		return p2p(b, pairFigures)
	case "away":
		return p2p(b, away)
	case "coll":
		return coll(b)
	case "gups":
		return gups(b)
	case "lock":
		return lock(b)
	}
	return command.Usagef("unknown mode %q: want one of p2p, away, coll, gups, lock, init", args[0])
}

// figure prints one figure.
func figure(out io.Writer, name string, value float64, unit string) {
	fmt.Fprintf(out, "%s %.6g %s\n", name, value, unit)
}
