// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

const noErrors = "Errors          = 0\n"

func TestP2P_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-m 31 -n 23 -iters 4", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-m 5 -n 23 -g 5", noErrors, 3, 4)
}

func TestP2P_FindsLostPoints(t *testing.T) {
	lost := shmemtest.Faults(loop.Faults{Drop: func(e loop.Event) bool {
		return e.Kind == loop.Put && e.Source == 0 && e.Target == 1 && e.Size == 8*5
	}})
	out, errs := jobtest.InProcess(t, 2, run, []string{"-m", "31", "-n", "26", "-g", "5", "-iters", "1"}, lost)
	if errs[0] == nil || !strings.HasSuffix(errs[0].Error(), " errors") {
		t.Errorf("PE 0 has error %v, want some errors; it wrote:\n%s", errs[0], out)
	}
}

func TestP2P_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	if out := p.Succeed(3, "-m", "100", "-n", "50", "-g", "4"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	p.Refuse("3 PEs are more than -m 3 has columns to compute", 3, "-m", "3")
	p.Refuse("-g 0 or -iters 10 is less than 1", 2, "-g", "0")
}
