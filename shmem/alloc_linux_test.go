// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"testing"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
)

// farDomain is a domain whose PEs are all reached through an endpoint.
type farDomain struct {
	fabric.Domain
	fabric.Committer
}

func (d farDomain) Caps() fabric.Caps {
	caps := d.Domain.Caps()
	caps.Direct, caps.CPUAtomics = false, false
	return caps
}

// TestVerbs_DoNotAllocateThroughAnEndpoint uses shm's: loop's carries out every
// operation by a goroutine.
func TestVerbs_DoNotAllocateThroughAnEndpoint(t *testing.T) {
	measure(t, farPE(t))
}

// farPE returns a PE of its own job that reaches itself through an endpoint.
func farPE(t *testing.T) *shmem.PE {
	t.Helper()
	file, err := segment.CreateFile(segment.Layout{PEs: 1, NPEs: 1, Size: segment.SizeForHeap(1 << 20), Cores: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d, err := shm.New(file).Open(fabric.Job{NPEs: 1})
	if err != nil {
		t.Fatal(err)
	}
	pe, err := shmem.Attach(shmem.Host{
		Domain: farDomain{d, d.(fabric.Committer)}, Fabric: "shm", NPEs: 1,
		Exit: func(code int, message string) { t.Errorf("exit with status %d: %s", code, message) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pe.Detach(); err != nil {
			t.Error(err)
		}
	})
	return pe
}
