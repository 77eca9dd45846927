// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors     =           0           0           0\n"

func TestHistogram_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 9 -c 6", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 0 -c 0", noErrors, 3) // more PEs than counters
}

func TestHistogram_FindsALostCount(t *testing.T) {
	lost := jobtest.DropOne(func(e loop.Event) bool {
		return e.Kind == loop.Atomic && e.Source == 1
	})
	out, errs := jobtest.InProcess(t, 3, run, []string{"-n", "9", "-c", "6"}, lost)
	if errs[0] == nil || errs[0].Error() != "atomics: 1 errors" {
		t.Errorf("PE 0 has error %v, want one of the atomics; it wrote:\n%s", errs[0], out)
	}
}

func TestHistogram_FindsALostRow(t *testing.T) {
	lost := jobtest.DropOne(func(e loop.Event) bool {
		return e.Kind == loop.Put && e.Source == 1 && e.Target == 0 && e.Size == 8*32
	})
	out, errs := jobtest.InProcess(t, 2, run, []string{"-n", "9", "-c", "6"}, lost)
	if errs[0] == nil || !strings.HasPrefix(errs[0].Error(), "put/get: ") {
		t.Errorf("PE 0 has error %v, want some of put/get; it wrote:\n%s", errs[0], out)
	}
}

func TestHistogram_UnderGorun(t *testing.T) {
	h := jobtest.Build(t)
	if out := h.Succeed(3, "-n", "12"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	h.Refuse("-n 31 or -c 10 is more than 30", 2, "-n", "31")
}
