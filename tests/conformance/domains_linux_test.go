// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"testing"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/segment"
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

// shmHeap is enough for every row, in bytes: pages that are not used cost nothing.
const shmHeap = 4 << 20

// shmDomains returns the domains of np PEs of this process that share memory.
func shmDomains(t *testing.T, np int, direct bool) []fabric.Domain {
	t.Helper()
	file, err := segment.CreateFile(segment.Layout{PEs: np, NPEs: np, Size: segment.SizeForHeap(shmHeap), Cores: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var domains []fabric.Domain
	for pe := range np {
		d, err := shm.New(file).Open(fabric.Job{PE: pe, NPEs: np})
		if err != nil {
			t.Fatal(err)
		}
		domains = append(domains, restricted{d, d.(fabric.Committer), direct})
	}
	return domains
}
