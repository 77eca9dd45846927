// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// A fault is one way in which a fabric breaks its promises.
type fault struct {
	name   string
	faults loop.Faults
}

// lost loses operations on the program's own objects.
func lost(what string, kinds ...loop.Kind) fault {
	return fault{"lost " + what, loop.Faults{Drop: func(e loop.Event) bool {
		return e.Off >= segment.SystemSize && slices.Contains(kinds, e.Kind)
	}}}
}

var (
	lostPuts    = lost("puts", loop.Put)
	lostWords   = lost("puts of a word", loop.Word)
	lostGets    = lost("gets", loop.Get)
	lostAtomics = lost("atomics", loop.Atomic)
	lostFetches = lost("fetching atomics", loop.Fetch)
	lostSignals = lost("signals", loop.Signal)

	// oneLost loses every other one, so that a sum is wrong, or a sequence has gaps.
	everyOtherAtomicLost = fault{"every other atomic lost", loop.Faults{Drop: func(e loop.Event) bool {
		return e.Off >= segment.SystemSize && (e.Kind == loop.Atomic || e.Kind == loop.Fetch) && e.Issue%2 == 0
	}}}

	// lostSync loses what the runtime's own synchronisation sends, once Attach is
	// over, which takes a PE of two fewer operations than this.
	lostSync = fault{"lost synchronisation", loop.Faults{Drop: func(e loop.Event) bool {
		return e.Off < segment.SystemSize && (e.Kind == loop.Note || e.Kind == loop.Word) && e.Issue > 16
	}}}

	// lostReductions loses what a reduction is made of, after Attach.
	lostReductions = fault{"lost parts of reductions", loop.Faults{Drop: func(e loop.Event) bool {
		if e.Off >= segment.SystemSize {
			return e.Kind == loop.Get
		}
		return (e.Kind == loop.Word || e.Kind == loop.Note && e.Size > 16) && e.Issue > 16
	}}}

	quietIgnored = fault{"quiet ignored", loop.Faults{IgnoreQuiet: true}}
	signalFirst  = fault{"signal before its data", loop.Faults{SignalFirst: true}}
)

// failing turns a fault that loses operations into one where they fail.
func (f fault) failing() (fault, bool) {
	drop := f.faults.Drop
	if drop == nil {
		return fault{}, false
	}
	return fault{"failing instead of " + f.name, loop.Faults{Fail: func(e loop.Event) error {
		if drop(e) {
			return errBroken
		}
		return nil
	}}}, true
}

var errBroken = errors.New("broken on purpose")

// skipUnderRace skips tests of programs that are wrong on purpose: the detector
// reports them, as it should.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector reports these programs")
	}
}

// seedsTried is how many orders of delivery a wrong fabric or program has to
// be found out in.
const seedsTried = 20

// Every row that moves or orders data fails on a fabric that does not.
func TestRows_FailWithTheirFaults(t *testing.T) {
	skipUnderRace(t)
	shown := 0
	for _, r := range rows() {
		for _, f := range r.faults {
			shown++
			t.Run(r.title()+"/"+f.name, func(t *testing.T) { mustFail(t, &r, r.run, f.faults) })
			if f, ok := f.failing(); ok {
				t.Run(r.title()+"/"+f.name, func(t *testing.T) { mustFail(t, &r, r.run, f.faults) })
			}
		}
	}
	if shown == 0 {
		t.Error("no row has a fault")
	}
}

// A row that sends anything to an object of another PE has faults, or a call to do without.
func TestRows_ThatMoveDataHaveFaults(t *testing.T) {
	skipUnderRace(t)
	for _, r := range rows() {
		if !r.runsOn(onLoop) || r.faults != nil || r.without != nil {
			continue
		}
		var moved atomic.Pointer[loop.Event]
		watch := loop.Faults{Drop: func(e loop.Event) bool {
			if e.Off >= segment.SystemSize && e.Source != e.Target {
				moved.Store(&e)
			}
			return false
		}}
		tryInBubble(t, 5, r.ending(r.run), r.options(shmemtest.Delays(1, longest), shmemtest.Faults(watch))...)
		if e := moved.Load(); e != nil {
			t.Errorf("row %q has no faults, but moves data: a %v of %d bytes", r.title(), e.Kind, e.Size)
		}
	}
}

// Every row about an order fails without the call that makes it.
func TestRows_FailWithoutTheirCall(t *testing.T) {
	skipUnderRace(t)
	shown := 0
	for _, r := range rows() {
		if r.without != nil {
			shown++
			t.Run(r.title(), func(t *testing.T) { mustFail(t, &r, r.without, loop.Faults{}) })
		}
	}
	if shown == 0 {
		t.Error("no row has a program that lacks its call")
	}
}

// mustFail fails the test unless run fails with some seed. More PEs than two
// help where a fault is hidden by the order that the runtime's own messages to
// the PEs next to it bring.
func mustFail(t *testing.T, r *row, run func(*shmem.PE) error, f loop.Faults) {
	t.Helper()
	t.Parallel()
	for _, np := range r.runCounts() {
		for seed := range uint64(seedsTried) {
			errs := tryInBubble(t, np, r.ending(run), r.options(shmemtest.Delays(seed, longest), shmemtest.Faults(f))...)
			if err := r.verdict(errs); err != nil && !isAccident(err) {
				return
			}
		}
	}
	t.Errorf("the row does not notice: PEs %v, seeds 0 to %d", r.runCounts(), seedsTried-1)
}

// isAccident reports whether a program failed because a fault hit the runtime's own
// words, which shows nothing about the row.
func isAccident(err error) bool {
	var mismatch *collectives.MismatchError
	return errors.As(err, &mismatch)
}

// longest is the longest delay of an operation, in virtual time.
const longest = time.Millisecond

// A rowError is what a row found.
type rowError struct{ text string }

func (e *rowError) Error() string { return e.text }

func broken(format string, args ...any) error { return &rowError{fmt.Sprintf(format, args...)} }
