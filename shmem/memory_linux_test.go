// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
)

// meanDomain is a domain whose machine has little memory for its PE.
type meanDomain struct {
	fabric.Domain
	fabric.Committer
	affords, commit error
}

func (d *meanDomain) Affords(size uintptr) error {
	return errors.Join(d.affords, d.Committer.Affords(size))
}

func (d *meanDomain) Commit(off fabric.Addr, size uintptr) error {
	return errors.Join(d.commit, d.Committer.Commit(off, size))
}

var errMean = errors.New("3 MiB needed, 2 MiB left")

// What the machine of one PE refuses is an error on every PE, and the heap is
// as it was before.
func TestAlloc_FailsOnEveryPEIfOnOne(t *testing.T) {
	const np, n = 3, 3 << 20
	for _, test := range []struct {
		name string
		mean func(d *meanDomain)
	}{
		{"limits", func(d *meanDomain) { d.affords = errMean }},
		{"commit", func(d *meanDomain) { d.commit = errMean }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mean *meanDomain // PE 1's
			runOnShm(t, np, func(pe int, d fabric.Domain) fabric.Domain {
				if pe != 1 {
					return d
				}
				mean = &meanDomain{Domain: d, Committer: d.(fabric.Committer)}
				return mean
			}, func(pe *shmem.PE) error {
				before := alloc[byte](pe, 100)
				if pe.MyPE() == 1 {
					test.mean(mean)
				}
				_, err := shmem.Alloc[byte](pe, n)
				if pe.MyPE() == 1 {
					mean.affords, mean.commit = nil, nil
				}
				want := "another PE has too little memory"
				if pe.MyPE() == 1 {
					want = "Alloc on PE 1: " + errMean.Error()
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					return fmt.Errorf("got %w, want %q", err, want)
				}
				after := alloc[byte](pe, n)
				shmem.Put(after.Slice(n-1, n), []byte{7}, (pe.MyPE()+1)%np)
				before.Local()[99] = 1
				pe.BarrierAll()
				if got := after.Local(); got[0] != 0 || got[n-1] != 7 {
					return fmt.Errorf("the object after the failure holds %d and %d", got[0], got[n-1])
				}
				return nil
			})
		})
	}
}

// runOnShm runs a program on np PEs of this process that share memory by fabric/shm, each
// with the domain that wrap makes of its own.
func runOnShm(t *testing.T, np int, wrap func(pe int, d fabric.Domain) fabric.Domain, run func(*shmem.PE) error) {
	t.Helper()
	file, err := segment.CreateFile(segment.Layout{PEs: np, NPEs: np, Size: segment.SizeForHeap(8 << 20), Cores: np})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var pes sync.WaitGroup
	for pe := range np {
		d, err := shm.New(file).Open(fabric.Job{PE: pe, NPEs: np})
		if err != nil {
			t.Fatal(err)
		}
		d = wrap(pe, d)
		pes.Go(func() {
			handle, err := shmem.Attach(shmem.Host{
				Domain: d, Fabric: "shm", PE: pe, NPEs: np, Crowded: true,
				Exit: func(code int, message string) { t.Errorf("PE %d exits with %d: %s", pe, code, message) },
			})
			if err == nil {
				err = run(handle)
			}
			if err == nil {
				err = handle.Detach()
			}
			if err != nil {
				t.Errorf("PE %d: %v", pe, err)
				d.Abort(err)
			}
		})
	}
	pes.Wait()
}

// A heap may be larger than the machine; an object may not, and the error
// says what would help.
func TestAlloc_HoldsTheNeedAgainstTheMachine(t *testing.T) {
	t.Setenv("SHMEM_SYMMETRIC_SIZE", "8t")
	pe := lonePE(t)
	_, err := shmem.Alloc[byte](pe, 7<<40)
	if err == nil {
		t.Fatal("7 TiB were given")
	}
	if not := missing(err.Error(), "Alloc", "PE 0", fmt.Sprint(7<<20)+" MiB", "MiB left", "fewer PEs, smaller objects"); not != nil {
		t.Errorf("%q lacks %q", err, not)
	}
	alloc[int64](pe, 1000).Local()[999] = 1
}
