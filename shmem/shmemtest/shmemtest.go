// SPDX-License-Identifier: BSD-3-Clause

// Package shmemtest runs SPMD programs inside one test process, with every PE
// a goroutine and every symmetric heap in Go memory. So `go test -race` checks
// the program's synchronisation between PEs: a Get that no barrier, wait or
// signal orders after a Put is a race, and so is a buffer that changes between
// PutNBI and Quiet. testing/synctest gives such programs virtual time, and finds
// deadlocks at once.
//
//	func TestRing(t *testing.T) {
//		shmemtest.Run(t, 4, func(pe *shmem.PE) error { … })
//	}
//
// By default every PE is far from every other: transfers are delivered by
// goroutines of their own, in any order that fences and quiets allow.
package shmemtest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
)

// DefaultHeap is the size in bytes of each PE's symmetric heap if no option
// says otherwise: small, because the race detector keeps four times as much.
const DefaultHeap = 4 << 20

// An Option changes how Run runs the PEs.
type Option func(*loop.Options)

// Heap sets the size of each PE's symmetric heap in bytes.
func Heap(size int) Option {
	return func(o *loop.Options) { o.SegmentSize = segment.SizeForHeap(uintptr(size)) }
}

// Delays delivers every operation late, by a time of up to longest that depends
// on seed, source, target and the operation's number only. Inside
// testing/synctest a seed reproduces a run exactly.
func Delays(seed uint64, longest time.Duration) Option {
	return func(o *loop.Options) { o.Seed, o.MaxDelay = seed, longest }
}

// Nodes makes size consecutive PEs near each other, as on one node, so that
// Ptr reaches them and, except under the race detector, verbs store directly.
func Nodes(size int) Option {
	return func(o *loop.Options) { o.NodeSize = size }
}

// FabricAtomics delivers atomics and signals between near PEs as those between far
// ones, while data is stored directly, as on a network whose atomics the processor's are
// not coherent with. It goes with Nodes and Delays.
func FabricAtomics() Option {
	return func(o *loop.Options) { o.FabricAtomics = true }
}

// Faults makes the fabric lose, fail or reorder operations, for tests that
// prove that they would notice.
func Faults(f loop.Faults) Option {
	return func(o *loop.Options) { o.Faults = f }
}

// Run runs f on np PEs and returns when all have finished and finalized. The
// test fails if f returns an error or panics on any PE, or calls GlobalExit with
// a status other than 0; then the waits of the others end, and so do they.
//
// Goroutines that f starts must not outlive it, and a panic in one of them ends
// the test process: Go knows no other way.
func Run(t testing.TB, np int, f func(*shmem.PE) error, opts ...Option) {
	t.Helper()
	for _, err := range run(t, np, f, opts) {
		t.Error(err)
	}
}

// Try is Run for tests that expect failure: it returns each PE's error, nil for
// those that finished, and does not fail the test. A panic with an error is that
// error; PEs that ended only because another did have one that wraps
// [shmem.ErrEnding].
func Try(t testing.TB, np int, f func(*shmem.PE) error, opts ...Option) []error {
	t.Helper()
	j := start(t, np, f, opts)
	return j.errs
}

// ExitError is a PE's call of GlobalExit.
type ExitError struct{ Code int }

// Error implements error.
func (e *ExitError) Error() string { return fmt.Sprintf("GlobalExit(%d)", e.Code) }

// run returns the errors that a test is to report.
func run(t testing.TB, np int, f func(*shmem.PE) error, opts []Option) []error {
	t.Helper()
	j := start(t, np, f, opts)
	var report []error
	for i, err := range j.errs {
		var exit *ExitError
		switch {
		case err == nil, errors.Is(err, shmem.ErrEnding):
		case errors.As(err, &exit) && exit.Code == 0:
		case j.stacks[i] != nil:
			report = append(report, fmt.Errorf("PE %d: panic: %w\n%s", i, err, j.stacks[i]))
		default:
			report = append(report, fmt.Errorf("PE %d: %w", i, err))
		}
	}
	return report
}

// job is one run. Each PE writes its own elements.
type job struct {
	np     int
	nodes  []int // as in shmem.Host
	errs   []error
	stacks [][]byte // of panics that are not the library's way to end a PE
}

// exiting is what GlobalExit panics with, to unwind its PE.
type exiting struct{ code int }

func start(t testing.TB, np int, f func(*shmem.PE) error, opts []Option) *job {
	t.Helper()
	o := loop.Options{SegmentSize: segment.SizeForHeap(DefaultHeap)}
	for _, opt := range opts {
		opt(&o)
	}
	world, err := loop.New(np, o)
	if err != nil {
		t.Fatal(err)
	}
	j := &job{np: np, errs: make([]error, np), stacks: make([][]byte, np)}
	domains, blobs := make([]fabric.Domain, np), make([][]byte, np)
	for i := range np {
		if domains[i], err = world.Open(fabric.Job{PE: i, NPEs: np}); err != nil {
			t.Fatal(err)
		}
		if blobs[i], err = domains[i].Register(domains[i].Map(i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range domains {
		if err := d.Connect(fabric.NewTable(blobs)); err != nil {
			t.Fatal(err)
		}
	}
	for first := 0; first < np && o.NodeSize > 0 && domains[0].Caps().Direct; first += o.NodeSize {
		j.nodes = append(j.nodes, first)
	}
	var pes sync.WaitGroup
	for i, d := range domains {
		pes.Go(func() { j.runPE(d, i, f) })
	}
	pes.Wait()
	world.Close()
	return j
}

// runPE is the life of PE i.
func (j *job) runPE(d fabric.Domain, i int, f func(*shmem.PE) error) {
	finished := false
	defer func() {
		if finished {
			return
		}
		switch r := recover().(type) {
		case nil: // runtime.Goexit: t.FailNow or t.Skip on a PE
			j.errs[i] = errors.New("the PE's goroutine ended before the program returned")
		case exiting:
			j.errs[i] = &ExitError{r.code}
		case error:
			j.errs[i] = r
			if !errors.Is(r, shmem.ErrEnding) {
				j.stacks[i] = debug.Stack()
			}
		default:
			j.errs[i], j.stacks[i] = fmt.Errorf("%v", r), debug.Stack()
		}
		j.end(d, i)
	}()
	pe, err := shmem.Attach(shmem.Host{
		Domain: d, Fabric: "loop", PE: i, NPEs: j.np, Crowded: true, Nodes: j.nodes,
		Exit: func(code int, _ string) { panic(exiting{code}) },
	})
	if err == nil {
		if err = f(pe); err == nil {
			err = pe.Detach()
		}
	}
	finished = true
	if j.errs[i] = err; err != nil {
		j.end(d, i)
	}
}

// end ends the waits of the PEs that PE i leaves behind.
func (j *job) end(d fabric.Domain, i int) {
	if !errors.Is(j.errs[i], shmem.ErrEnding) {
		d.Abort(fmt.Errorf("%w: PE %d: %w", shmem.ErrEnding, i, j.errs[i]))
	}
}
