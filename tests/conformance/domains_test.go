// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// runDomains runs all rows on domains that can do less than their fabrics: on loop
// without the optional capabilities of its endpoints, and on shm, with the PEs in this
// process, with everything or only atomics going through endpoints.
func runDomains(t *testing.T, ran *coverage) {
	t.Helper()
	places := []struct {
		name string
		run  func(t *testing.T, r *row, np int) []error
	}{
		{"loop with the least of endpoints", func(t *testing.T, r *row, np int) (errs []error) {
			t.Helper()
			synctest.Test(t, func(t *testing.T) {
				errs = tryOn(leastDomains(t, r, np), guarded(r.ending(r.run), virtualPatience))
				time.Sleep(virtualPatience) // as in tryInBubble
			})
			return errs
		}},
		{"shm by endpoints", func(t *testing.T, r *row, np int) []error {
			t.Helper()
			return tryOn(shmDomains(t, np, false), guarded(r.ending(r.run), patience))
		}},
		{"shm with atomics by endpoints", func(t *testing.T, r *row, np int) []error {
			t.Helper()
			return tryOn(shmDomains(t, np, true), guarded(r.ending(r.run), patience))
		}},
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
				for _, place := range places {
					if err := r.verdict(place.run(t, &r, np)); err != nil {
						t.Errorf("%d PEs, %s: %v", np, place.name, err)
						continue
					}
					ran.add(&r, place.name, np)
				}
			}
		})
	}
}

// least is a domain whose endpoints have the methods of [fabric.Endpoint] only.
type least struct{ fabric.Domain }

// Endpoint implements [fabric.Domain].
func (d least) Endpoint() (fabric.Endpoint, error) {
	ep, err := d.Domain.Endpoint()
	return struct{ fabric.Endpoint }{ep}, err
}

// leastDomains returns the domains of np PEs on loop, which delivers late.
func leastDomains(t *testing.T, r *row, np int) []fabric.Domain {
	t.Helper()
	world, err := loop.New(np, loop.Options{
		SegmentSize: segment.SizeForHeap(uintptr(max(rowHeap, r.heap))), Seed: uint64(np), MaxDelay: longest,
	})
	if err != nil {
		t.Fatal(err)
	}
	domains, blobs := make([]fabric.Domain, np), make([][]byte, np)
	for pe := range np {
		d, err := world.Open(fabric.Job{PE: pe, NPEs: np})
		if err != nil {
			t.Fatal(err)
		}
		if blobs[pe], err = d.Register(d.Map(pe)); err != nil {
			t.Fatal(err)
		}
		domains[pe] = least{d}
	}
	for _, d := range domains {
		if err := d.Connect(fabric.NewTable(blobs)); err != nil {
			t.Fatal(err)
		}
	}
	return domains
}

// tryOn runs a program with a PE on each domain and returns each PE's error,
// as [shmemtest.Try] does.
func tryOn(domains []fabric.Domain, run func(*shmem.PE) error) []error {
	j := &job{domains: domains, errs: make([]error, len(domains))}
	var pes sync.WaitGroup
	for pe := range domains {
		pes.Go(func() { j.errs[pe] = j.end(pe, j.runPE(pe, run)) })
	}
	pes.Wait()
	return j.errs
}

// A job is the PEs of one run. Each writes its own error.
type job struct {
	domains []fabric.Domain
	errs    []error
	ended   atomic.Bool // by the first PE that failed
}

// runPE is the life of a PE. What it panics with is its error.
func (j *job) runPE(pe int, run func(*shmem.PE) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			cause, ok := r.(error)
			if !ok {
				cause = fmt.Errorf("panic: %v", r)
			}
			err = cause
		}
	}()
	handle, err := shmem.Attach(shmem.Host{
		Domain: j.domains[pe], Fabric: "a fabric", PE: pe, NPEs: len(j.domains), Crowded: true,
		Exit: func(code int, _ string) { panic(&shmemtest.ExitError{Code: code}) },
	})
	if err != nil {
		return err
	}
	if err := run(handle); err != nil {
		return err
	}
	return handle.Detach()
}

// end ends the waits of the PEs that PE pe leaves behind. It returns err, or
// what becomes of it when another PE has ended the job.
func (j *job) end(pe int, err error) error {
	switch {
	case err == nil:
	case j.ended.Swap(true):
		return fmt.Errorf("%w: %w", shmem.ErrEnding, err)
	default:
		for _, d := range j.domains {
			d.Abort(fmt.Errorf("PE %d: %w", pe, err))
		}
	}
	return err
}
