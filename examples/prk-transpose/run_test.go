// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors          = 0\n"

func TestTranspose_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 101 -iters 3", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 2 -iters 3", noErrors, 3) // more PEs than rows
}

func TestTranspose_FindsALostBlock(t *testing.T) {
	const n, np = 64, 2
	lost := jobtest.DropOne(func(e loop.Event) bool {
		return e.Kind == loop.Get && e.Source == 1 && e.Target == 0 && e.Size >= 8*n/np
	})
	out, errs := jobtest.InProcess(t, np, run, []string{"-n", "64"}, lost)
	if errs[0] == nil || !strings.HasSuffix(errs[0].Error(), " errors") {
		t.Errorf("PE 0 has error %v, want some errors; it wrote:\n%s", errs[0], out)
	}
}

func TestTranspose_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	reach := "PEs in reach    = 3\n"
	if jobtest.Far {
		reach = "PEs in reach    = 1\n"
	}
	if out := p.Succeed(3, "-n", "200"); !strings.Contains(out, noErrors) || !strings.Contains(out, reach) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	p.Refuse("-n 0 is not in [1, 65536]", 2, "-n", "0")
}
