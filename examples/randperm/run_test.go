// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors          = 0\n"

func TestRandPerm_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 8", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 1", noErrors, 3) // more PEs than numbers
}

// A swap that is lost returns 0, as one that sticks the dart.
func TestRandPerm_FindsALostDart(t *testing.T) {
	lost := jobtest.DropOne(func(e loop.Event) bool { return e.Kind == loop.Fetch && e.Source == 1 && e.Target == 0 })
	out, errs := jobtest.InProcess(t, 2, run, []string{"-n", "8"}, lost)
	if errs[0] == nil || errs[0].Error() != "1 errors" {
		t.Errorf("PE 0 has error %v, want one number missing; it wrote:\n%s", errs[0], out)
	}
}

func TestRandPerm_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	if out := p.Succeed(3, "-n", "12"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	p.Refuse("-n 31 is more than 30", 2, "-n", "31")
}
