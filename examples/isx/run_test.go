// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

const noErrors = "Errors          = 0\n"

func TestISx_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 12", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 0", noErrors, 3) // a key a PE
}

func TestISx_FindsLostKeys(t *testing.T) {
	const manyKeys = 1000 // bytes
	lost := shmemtest.Faults(loop.Faults{Drop: func(e loop.Event) bool {
		return e.Kind == loop.Put && e.Source == 1 && e.Target == 0 && e.Size > manyKeys
	}})
	out, errs := jobtest.InProcess(t, 2, run, []string{"-n", "12"}, lost)
	if errs[0] == nil || !strings.HasSuffix(errs[0].Error(), " errors") {
		t.Errorf("PE 0 has error %v, want some errors; it wrote:\n%s", errs[0], out)
	}
}

// A counter that is too high leaves no room, and no PE writes beyond its end.
func TestISx_RefusesWhatDoesNotFit(t *testing.T) {
	shmemtest.Run(t, 2, func(pe *shmem.PE) error {
		s, err := newSorter(pe, 12)
		if err != nil {
			return err
		}
		s.reserved.Local()[0] = int64(s.received.Len())
		pe.BarrierAll()
		if err := s.exchange(); err == nil || !strings.Contains(err.Error(), "which has room for 5376") {
			t.Errorf("PE %d has error %v, want that there is no room", pe.MyPE(), err)
		}
		return nil
	})
}

func TestISx_RefusesKeysBeyondTheirType(t *testing.T) {
	_, errs := jobtest.InProcess(t, 32, run, []string{"-n", "26"})
	const want = "32 PEs make keys of more than 31 bits with -n 26"
	if errs[0] == nil || !strings.Contains(errs[0].Error(), want) {
		t.Errorf("PE 0 has error %v, want %q", errs[0], want)
	}
}

func TestISx_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	if out := p.Succeed(3, "-n", "14"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	p.Refuse("-n 27 is more than 26", 2, "-n", "27")
}
