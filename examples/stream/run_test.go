// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors          = 0\n"

func TestStream_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 13 -times 3", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 0 -times 30", noErrors, 2) // one element, that no longer is exact
}

func TestStream_FindsALostBlock(t *testing.T) {
	lost := jobtest.DropOne(func(e loop.Event) bool {
		return e.Kind == loop.Get && e.Source == 1 && e.Size == 8*block
	})
	out, errs := jobtest.InProcess(t, 2, run, []string{"-n", "12", "-times", "1"}, lost)
	if errs[0] == nil || errs[0].Error() != "4096 errors" {
		t.Errorf("PE 0 has error %v, want a block of errors; it wrote:\n%s", errs[0], out)
	}
}

func TestStream_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	neighbour := "Neighbour       = in reach\n"
	if jobtest.Far {
		neighbour = "Neighbour       = got in blocks\n"
	}
	if out := p.Succeed(3, "-n", "14"); !strings.Contains(out, noErrors) || !strings.Contains(out, neighbour) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	p.Refuse("-n 29 is more than 28", 2, "-n", "29")
}
