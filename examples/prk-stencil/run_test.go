// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors          = 0\n"

func TestStencil_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 45 -iters 5", noErrors, 1, 2, 3, 4, 6)
	jobtest.Verify(t, run, "-n 8 -iters 3", noErrors, 4) // the narrowest tiles
}

func TestStencil_FindsALostEdge(t *testing.T) {
	for _, c := range []struct {
		np, size int // bytes of a block of PE 1's edge to PE 0
		edge     string
	}{{2, 8 * 45, "rows"}, {4, 8 * radius, "columns"}} {
		lost := jobtest.DropOne(func(e loop.Event) bool {
			const early = 10 // operations: the first two rows of the grid are not summed up
			return e.Kind == loop.Put && e.Source == 1 && e.Target == 0 && e.Size == c.size && e.Issue > early
		})
		out, errs := jobtest.InProcess(t, c.np, run, []string{"-n", "45", "-iters", "9"}, lost)
		if errs[0] == nil || !strings.HasSuffix(errs[0].Error(), " errors") {
			t.Errorf("np=%d, a part of an edge of %s was lost: PE 0 has error %v; it wrote:\n%s", c.np, c.edge, errs[0], out)
		}
	}
}

func TestStencil_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	if out := p.Succeed(4, "-n", "100"); !strings.Contains(out, noErrors) {
		t.Errorf("np=4 wrote:\n%s", out)
	}
	p.Refuse("3 PEs make 3 by 1 tiles, and -n 11 leaves them less than 4 points wide", 3, "-n", "11")
	p.Refuse("-iters 0 is less than 1", 2, "-iters", "0")
}
