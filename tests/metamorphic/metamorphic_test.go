// SPDX-License-Identifier: BSD-3-Clause

// Package metamorphic runs random programs of legal operations on every fabric
// and on a model in plain Go, which must all come to the same.
package metamorphic

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

var oneSeed = flag.Int64("seed", -1, "run the program of this seed only")

// maxNPEs is the largest number of PEs that a program runs with.
const maxNPEs = 4

// npesOf returns the number of PEs of a seed's program.
func npesOf(seed uint64) int { return 1 + int(seed%maxNPEs) }

// seeds returns the seeds to run.
func seeds(one int64) []uint64 {
	if one >= 0 {
		return []uint64{uint64(one)}
	}
	n := 250
	if race.Enabled {
		n = 60
	}
	var all []uint64
	for seed := range uint64(n) {
		all = append(all, seed)
	}
	return all
}

// programEnv makes the test binary the program of a PE; its value is -seed's.
const programEnv = "GOSHMEM_METAMORPHIC_SEED"

func TestMain(m *testing.M) {
	if value, ok := os.LookupEnv(programEnv); ok {
		one, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		shmem.Main(func(pe *shmem.PE) error { return runSeeds(pe, one) })
	}
	os.Exit(m.Run())
}

// runSeeds is the life of a PE as a process: all programs for as many PEs as
// there are.
func runSeeds(pe *shmem.PE, one int64) error {
	for _, seed := range seeds(one) {
		if npesOf(seed) != pe.NPEs() {
			continue
		}
		p := generate(seed, pe.NPEs())
		if err := run(pe, p, predict(p)); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

func TestPrograms_OnLoop(t *testing.T) {
	for _, seed := range seeds(*oneSeed) {
		p := generate(seed, npesOf(seed))
		want := predict(p)
		check := func(place string, errs []error) {
			t.Helper()
			for _, err := range errs {
				if err != nil && !errors.Is(err, shmem.ErrEnding) {
					t.Errorf("%s: %v\nrepeat: go test ./tests/metamorphic -seed %d", place, err, seed)
				}
			}
		}
		check("loop", try(t, p, want, time.Minute))
		check("loop in pairs", try(t, p, want, time.Minute, shmemtest.Nodes(2)))
		if seed%4 == 3 || *oneSeed >= 0 { // real time: near PEs poll, so that none would pass in a bubble
			check("loop in pairs, delayed", try(t, p, want, time.Minute, shmemtest.Nodes(2), shmemtest.Delays(seed, 20*time.Microsecond)))
		}
		check("loop delayed", tryInBubble(t, p, want, time.Minute, shmemtest.Delays(seed, time.Millisecond)))
		if t.Failed() {
			return
		}
	}
}

// heap is the symmetric heap of a program's PEs on loop, in bytes.
const heap = 1 << 20

// try runs a program on loop and returns each PE's error. A PE whose program
// hangs ends the job after patience.
func try(t *testing.T, p *program, want *outcome, patience time.Duration, opts ...shmemtest.Option) []error {
	t.Helper()
	return shmemtest.Try(t, p.np, func(pe *shmem.PE) error {
		done := make(chan error, 1)
		go func() {
			defer func() {
				if r := recover(); r != nil {
					done <- fmt.Errorf("panic: %w", r.(error))
				}
			}()
			done <- run(pe, p, want)
		}()
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case err := <-done:
			return err
		case <-timer.C:
			return fmt.Errorf("PE %d hangs", pe.MyPE())
		}
	}, append(opts, shmemtest.Heap(heap))...)
}

// tryInBubble is try in virtual time.
func tryInBubble(t *testing.T, p *program, want *outcome, patience time.Duration, opts ...shmemtest.Option) (errs []error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		errs = try(t, p, want, patience, opts...)
		time.Sleep(time.Second) // what a failure has left under way ends
	})
	return errs
}

func TestPrograms_OnProcesses(t *testing.T) {
	needProcesses(t)
	gorun := filepath.Join(t.TempDir(), "gorun")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", gorun, "../../launcher/gorun").CombinedOutput(); err != nil {
		t.Fatalf("build gorun: %v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for np := 1; np <= maxNPEs; np++ {
		cmd := exec.CommandContext(t.Context(), gorun, "-n", strconv.Itoa(np), "--heap", "4M", "--timeout", "120", self)
		cmd.Env = append(os.Environ(), programEnv+"="+strconv.FormatInt(*oneSeed, 10))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%d PEs: %v; repeat with -seed:\n%s", np, err, out)
		}
	}
}

// Programs must contain everything, or they show nothing.
func TestGenerate_UsesEveryOperationAndType(t *testing.T) {
	codes, types := map[code]bool{}, map[int]bool{}
	for seed := range uint64(100) {
		for _, ph := range generate(seed, npesOf(seed)).phases {
			for _, ops := range ph.ops {
				for _, o := range ops {
					codes[o.code] = true
					if o.code == alloc {
						types[o.kind] = true
					}
				}
			}
		}
	}
	for c := range numCodes {
		if !codes[c] {
			t.Errorf("no program has %s", codeNames[c])
		}
	}
	for i := range kinds {
		if !types[i] {
			t.Errorf("no program has an object of %s", kinds[i].name)
		}
	}
}

// What a fabric loses or a program forgets comes to something else.
func TestPrograms_NoticeFaults(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector reports these programs")
	}
	drop := func(kind loop.Kind) loop.Faults {
		return loop.Faults{Drop: func(e loop.Event) bool {
			return e.Kind == kind && e.Off >= segment.SystemSize && e.Issue%4 == 0
		}}
	}
	same := func(p *program) *program { return p }
	tests := []struct {
		name    string
		faults  loop.Faults
		program func(*program) *program
	}{
		{"puts lost", drop(loop.Put), same},
		{"puts of a word lost", drop(loop.Word), same},
		{"gets lost", drop(loop.Get), same},
		{"atomics lost", drop(loop.Atomic), same},
		{"fetching atomics lost", drop(loop.Fetch), same},
		{"signals lost", drop(loop.Signal), same},
		{"signals before their data", loop.Faults{SignalFirst: true}, same},
		{"quiet ignored", loop.Faults{IgnoreQuiet: true}, same},
		{"without fences", loop.Faults{}, func(p *program) *program { return without(p, fence) }},
		{"without quiets", loop.Faults{}, func(p *program) *program { return without(p, quiet) }},
	}
	for _, test := range tests {
		noticed := 0
		for seed := range uint64(20) {
			p := generate(seed, npesOf(seed))
			want := predict(test.program(p))
			if errors.Join(tryInBubble(t, test.program(p), want, 3*time.Second, shmemtest.Delays(seed, time.Millisecond), shmemtest.Faults(test.faults))...) != nil {
				noticed++
			}
		}
		if noticed == 0 {
			t.Errorf("%s: not noticed by any of 20 programs", test.name)
		}
	}
}

// without returns p without the operations of a code.
func without(p *program, c code) *program {
	q := &program{np: p.np}
	for _, ph := range p.phases {
		ops := make([][]op, len(ph.ops))
		for me := range ops {
			ops[me] = slices.DeleteFunc(slices.Clone(ph.ops[me]), func(o op) bool { return o.code == c })
		}
		ph.ops = ops
		q.phases = append(q.phases, ph)
	}
	return q
}
