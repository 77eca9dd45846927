// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// restricted is a domain of shm that says it can do less than it can, so that
// verbs take the ways that they take on other fabrics.
type restricted struct {
	fabric.Domain
	fabric.Committer
	direct bool // whether puts and gets may go by loads and stores
}

// Caps implements [fabric.Domain].
func (d restricted) Caps() fabric.Caps {
	caps := d.Domain.Caps()
	caps.Direct = caps.Direct && d.direct
	caps.CPUAtomics = false
	return caps
}

// runEndpoints runs all rows on fabric/shm, with the PEs in this process, and
// everything or only atomics going through its endpoints.
func runEndpoints(t *testing.T, ran *coverage) {
	t.Helper()
	for _, r := range rows() {
		if !r.runsOn(onLoop) {
			continue
		}
		t.Run(r.title(), func(t *testing.T) {
			t.Parallel()
			for _, np := range r.runCounts() {
				for place, direct := range map[string]bool{"shm by endpoints": false, "shm with atomics by endpoints": true} {
					if err := r.verdict(tryShm(t, np, direct, guarded(r.ending(r.run), patience))); err != nil {
						t.Errorf("%d PEs, %s: %v", np, place, err)
						continue
					}
					ran.add(&r, place, np)
				}
			}
		})
	}
}

// shmHeap is enough for every row, in bytes: pages that are not used cost nothing.
const shmHeap = 4 << 20

// tryShm runs a program on np PEs and returns each PE's error, as
// [shmemtest.Try] does.
func tryShm(t *testing.T, np int, direct bool, run func(*shmem.PE) error) []error {
	t.Helper()
	file, err := shm.CreateFile(segment.Layout{PEs: np, NPEs: np, Size: segment.SizeForHeap(shmHeap), Cores: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	j := &shmJob{errs: make([]error, np)}
	for pe := range np {
		d, err := shm.New(file).Open(fabric.Job{PE: pe, NPEs: np})
		if err != nil {
			t.Fatal(err)
		}
		j.domains = append(j.domains, restricted{d, d.(fabric.Committer), direct})
	}
	var pes sync.WaitGroup
	for pe := range np {
		pes.Go(func() { j.errs[pe] = j.end(pe, j.runPE(pe, run)) })
	}
	pes.Wait()
	return j.errs
}

// A shmJob is the PEs of one run. Each writes its own error.
type shmJob struct {
	domains []restricted
	errs    []error
	ended   atomic.Bool // by the first PE that failed
}

// runPE is the life of a PE. What it panics with is its error.
func (j *shmJob) runPE(pe int, run func(*shmem.PE) error) (err error) {
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
		Domain: j.domains[pe], Fabric: "shm", PE: pe, NPEs: len(j.domains), Crowded: true,
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
func (j *shmJob) end(pe int, err error) error {
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
