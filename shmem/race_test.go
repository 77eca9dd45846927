// SPDX-License-Identifier: BSD-3-Clause

//go:build race

package shmem_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// A raceProgram is a user's program with a mistake, or without: what makes the
// difference is done only if right.
type raceProgram struct {
	name string
	np   int
	run  func(r *raceRun)
}

// A raceRun is one PE of a raceProgram.
type raceRun struct {
	*shmem.PE
	right bool
	x     shmem.Sym[int64] // of 16 elements
	flag  shmem.Sym[uint64]
}

// other returns the other one of two PEs, or the one before this one.
func (r *raceRun) other() int { return (r.MyPE() + r.NPEs() - 1) % r.NPEs() }

// only calls do if the program is right.
func (r *raceRun) only(do func()) {
	if r.right {
		do()
	}
}

func racePrograms() []raceProgram {
	four := func() []int64 { return []int64{1, 2, 3, 4} }
	return []raceProgram{
		{"a put needs a barrier before the target reads", 2, func(r *raceRun) {
			shmem.Put(r.x, four(), r.other())
			r.only(r.BarrierAll)
			r.x.Local()[8] = r.x.Local()[3]
		}},
		// Two PEs would not do: the runtime's own messages to the PEs next to
		// it in its algorithm keep their order with the program's.
		{"a put needs more than SyncAll before the target reads", 8, func(r *raceRun) {
			shmem.Put(r.x, four(), r.other())
			r.only(r.Quiet)
			r.SyncAll()
			r.x.Local()[8] = r.x.Local()[3]
		}},
		{"a put needs a fence before the flag", 2, func(r *raceRun) {
			if r.MyPE() == 0 {
				shmem.Put(r.x, four(), 1)
				r.only(r.Fence)
				shmem.SignalSet(r.flag, 1, 1)
				return
			}
			shmem.SignalWaitUntil(r.flag, shmem.CmpEQ, 1)
			r.x.Local()[8] = r.x.Local()[0]
		}},
		{"a put needs a fence before a flag by PutValue that is polled for", 2, func(r *raceRun) {
			if r.MyPE() == 0 {
				shmem.Put(r.x, four(), 1)
				r.only(r.Fence)
				shmem.PutValue(r.flag, 1, 1)
				return
			}
			for !shmem.Test(r.flag, shmem.CmpEQ, 1) {
				continue
			}
			r.x.Local()[8] = r.x.Local()[0]
		}},
		{"a signal orders its own data, not that of an earlier put", 2, func(r *raceRun) {
			if r.MyPE() == 0 {
				shmem.Put(r.x, four(), 1)
				r.only(r.Fence)
				shmem.PutSignal(r.x.Slice(8, 12), four(), r.flag, 1, shmem.SigSet, 1)
				return
			}
			shmem.SignalWaitUntil(r.flag, shmem.CmpEQ, 1)
			r.x.Local()[15] = r.x.Local()[8] + r.x.Local()[0]
		}},
		{"the source of a non-blocking put is not reused before quiet", 2, func(r *raceRun) {
			src := four()
			shmem.PutNBI(r.x, src, r.other())
			r.only(r.Quiet)
			src[0] = 9
			r.BarrierAll()
		}},
		{"the source of a non-blocking put with a signal is not reused before quiet", 2, func(r *raceRun) {
			src := four()
			shmem.PutNBI(r.x, src[2:], r.other())
			r.only(r.Quiet)
			src[3]++
			shmem.PutSignalNBI(r.x.Slice(8, 12), src, r.flag, 1, shmem.SigAdd, r.other())
			r.Quiet()
			src[0]++
			r.BarrierAll()
		}},
		{"the destination of a non-blocking get is not read before quiet", 2, func(r *raceRun) {
			dst := make([]int64, 4)
			shmem.GetNBI(dst, r.x, r.other())
			r.only(r.Quiet)
			dst[1] += dst[2]
			r.BarrierAll()
		}},
		{"the result of a non-blocking atomic is not read before quiet", 2, func(r *raceRun) {
			old := new(uint64)
			shmem.AtomicFetchAddNBI(old, r.flag, 1, r.other())
			r.only(r.Quiet)
			*old++
			r.BarrierAll()
		}},
		{"a store needs a barrier before others get it", 2, func(r *raceRun) {
			r.x.Local()[0] = 5
			r.only(r.BarrierAll)
			shmem.GetValue(r.x.At(0), r.other())
			r.BarrierAll()
		}},
		{"a get needs a barrier before the memory is stored to again", 2, func(r *raceRun) {
			shmem.Get(make([]int64, 4), r.x, r.other())
			r.only(r.BarrierAll)
			r.x.Local()[3] = 7
			r.BarrierAll()
		}},
		{"two PEs do not put to the same elements without an order", 2, func(r *raceRun) {
			at := 0
			r.only(func() { at = 4 * r.MyPE() })
			shmem.Put(r.x.Slice(at, at+4), four(), 0)
			r.BarrierAll()
		}},
		{"two puts to the same elements need a fence", 2, func(r *raceRun) {
			shmem.Put(r.x, four(), r.other())
			r.only(r.Fence)
			shmem.Put(r.x, four(), r.other())
			r.BarrierAll()
		}},
		{"a word that others change by atomics is not stored to plainly", 2, func(r *raceRun) {
			shmem.AtomicInc(r.flag, r.other())
			if r.right {
				shmem.AtomicAdd(r.flag, 4, r.MyPE())
			} else {
				r.flag.Local()[0] += 4
			}
			r.BarrierAll()
		}},
		{"the source of a collective is not changed by others meanwhile", 2, func(r *raceRun) {
			shmem.Put(r.x, four(), r.other())
			r.only(r.BarrierAll)
			shmem.SumReduce(r.World(), r.x.Slice(8, 12), r.x.Slice(0, 4))
		}},
		{"a slice of a part does not overlap what another goroutine changes", 2, func(r *raceRun) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				shmem.Get(r.x.Local()[0:4], r.x.Slice(8, 12), r.other())
			}()
			r.only(func() { <-done })
			r.x.Local()[2] = 1
			<-done
			r.BarrierAll()
		}},
	}
}

const (
	raceEnv  = "GOSHMEM_TEST_RACE_PROGRAMS"
	raceRuns = 10
)

// TestRacePrograms runs in a process of its own, where races may be reported.
// After each program's reports it prints in how many of the runs there were any.
func TestRacePrograms(t *testing.T) {
	if os.Getenv(raceEnv) == "" {
		return
	}
	for _, p := range racePrograms() {
		for _, right := range [...]bool{true, false} {
			reported := 0
			for range raceRuns {
				before := runtime.RaceErrors()
				shmemtest.Run(t, p.np, func(pe *shmem.PE) error {
					p.run(&raceRun{PE: pe, right: right, x: alloc[int64](pe, 16), flag: alloc[uint64](pe, 1)})
					return nil
				}, shmemtest.Heap(64<<10))
				if runtime.RaceErrors() > before {
					reported++
				}
			}
			fmt.Fprint(os.Stderr, reportLine(p.name, right, reported))
		}
	}
}

func reportLine(name string, right bool, reported int) string {
	return fmt.Sprintf("\nreports in %d runs of %q, right %v\n", reported, name, right)
}

// TestRace: the detector reports each mistake every time, with a line of the
// program, and nothing else.
func TestRace(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRacePrograms$", "-test.count=1")
	cmd.Env = append(os.Environ(), raceEnv+"=1",
		// Report the same race again each time.
		"GORACE=atexit_sleep_ms=0 suppress_equal_stacks=0 suppress_equal_addresses=0")
	var out strings.Builder
	cmd.Stderr = &out
	_ = cmd.Run() // fails: there are races
	rest := out.String()
	for _, p := range racePrograms() {
		for _, right := range [...]bool{true, false} {
			want := 0
			if !right {
				want = raceRuns
			}
			reports, after, found := strings.Cut(rest, reportLine(p.name, right, want))
			if !found {
				t.Fatalf("no line %q in what follows:\n%s", reportLine(p.name, right, want), rest)
			}
			if !right && !strings.Contains(reports, "race_test.go") {
				t.Errorf("%s: no report names a line of the program:\n%s", p.name, reports)
			}
			rest = after
		}
	}
}
