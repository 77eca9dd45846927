// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// rowHeap is the symmetric heap that rows get on loop, in bytes.
const rowHeap = 256 << 10

// Patience with a row that hangs: real time, and virtual time, which is some
// thousand operations.
const (
	patience        = time.Minute
	virtualPatience = 10 * time.Second
)

// realLongest is about the longest delay of an operation where time is real.
const realLongest = 100 * time.Microsecond

// runLoop runs all rows on fabric/loop: with all PEs far from each other and
// operations delivered at once, or late and out of order; and with PEs in pairs
// that are near.
func runLoop(t *testing.T, ran *coverage) {
	t.Helper()
	seeds := []uint64{1, 2, 3}
	if race.Enabled {
		seeds = seeds[:1]
	}
	for _, r := range rows() {
		if !r.runsOn(onLoop) {
			continue
		}
		t.Run(r.title(), func(t *testing.T) {
			t.Parallel()
			for _, np := range r.runCounts() {
				if !takes(np) {
					continue
				}
				check := func(place string, run func(opts ...shmemtest.Option) []error, opts ...shmemtest.Option) {
					t.Helper()
					if err := r.verdict(run(r.options(opts...)...)); err != nil {
						t.Errorf("%d PEs, %s: %v", np, place, err)
						return
					}
					ran.add(&r, place, np)
				}
				inBubble := func(opts ...shmemtest.Option) []error { return tryInBubble(t, np, r.ending(r.run), opts...) }
				outside := func(opts ...shmemtest.Option) []error {
					return shmemtest.Try(t, np, guarded(r.ending(r.run), patience), opts...)
				}
				check("loop", outside)
				for _, seed := range seeds {
					check("loop delayed", inBubble, shmemtest.Delays(seed, longest))
				}
				// Near PEs poll words without blocking, so time would not pass in a bubble.
				check("loop split", outside, shmemtest.Nodes(2))
				check("loop split with atomics by the fabric", outside, shmemtest.Nodes(2), shmemtest.FabricAtomics(), shmemtest.Delays(uint64(np), realLongest))
			}
		})
	}
}

// options returns the options of a run of r on loop.
func (r *row) options(opts ...shmemtest.Option) []shmemtest.Option {
	heap := rowHeap
	if r.heap > 0 {
		heap = r.heap
	}
	return append([]shmemtest.Option{shmemtest.Heap(heap)}, opts...)
}

// tryInBubble runs a program in virtual time and returns each PE's error.
func tryInBubble(t *testing.T, np int, run func(*shmem.PE) error, opts ...shmemtest.Option) (errs []error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		errs = shmemtest.Try(t, np, guarded(run, virtualPatience), opts...)
		time.Sleep(virtualPatience) // what a PE that failed has left under way ends too
	})
	return errs
}

// guarded runs run beside its PE, so that the PE can end the job if run hangs.
func guarded(run func(*shmem.PE) error, patience time.Duration) func(*shmem.PE) error {
	return func(pe *shmem.PE) error {
		done := make(chan outcome, 1)
		go func() { done <- call(run, pe) }()
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case o := <-done:
			if o.panicked != nil {
				panic(o.panicked)
			}
			return o.err
		case <-timer.C:
			return broken("hangs")
		}
	}
}

// An outcome is how a program left its PE.
type outcome struct {
	err      error
	panicked any
}

func call(run func(*shmem.PE) error, pe *shmem.PE) (o outcome) {
	defer func() {
		o.panicked = recover()
		if err, ok := o.panicked.(interface{ RuntimeError() }); ok {
			o.panicked = fmt.Errorf("%v\n%s", err, debug.Stack())
		}
	}()
	return outcome{err: run(pe)}
}

// errFinalized is returned for a PE that has finalized itself.
var errFinalized = errors.New("finalized")

// ending returns run for shmemtest, which finalizes a PE when its program
// returns nil: a program that has done so itself meets the others after its
// end, in Go memory, and returns errFinalized.
func (r *row) ending(run func(*shmem.PE) error) func(*shmem.PE) error {
	if r.ends != finalizes {
		return run
	}
	met := new(sync.WaitGroup) // of all PEs; made by whoever runs them, in the same bubble
	var once sync.Once
	return func(pe *shmem.PE) error {
		once.Do(func() { met.Add(pe.NPEs()) })
		err := run(pe)
		met.Done()
		if err != nil {
			return err
		}
		met.Wait()
		return errFinalized
	}
}

// verdict returns why a run, whose PEs ended with errs, breaks r's promise: the
// first error that has a cause of its own.
func (r *row) verdict(errs []error) error {
	var why error
	exited := false
	for pe, err := range errs {
		var exit *shmemtest.ExitError
		isExit := errors.As(err, &exit) && exit.Code == r.ends.status()
		exited = exited || isExit
		ok := err == nil
		switch r.ends {
		case finalizes:
			ok = errors.Is(err, errFinalized)
		case exitsWith0, exitsWith7:
			ok = isExit || errors.Is(err, shmem.ErrEnding)
		}
		if !ok && (why == nil || errors.Is(why, shmem.ErrEnding)) {
			why = fmt.Errorf("PE %d ended with: %w", pe, cmp.Or(err, broken("no error")))
		}
	}
	if why == nil && !exited && r.ends.status() >= 0 {
		return broken("no PE exited with status %d", r.ends.status())
	}
	return why
}

// status returns the status that GlobalExit is called with, or -1.
func (e ending) status() int {
	switch e {
	case exitsWith0:
		return 0
	case exitsWith7:
		return 7
	}
	return -1
}
