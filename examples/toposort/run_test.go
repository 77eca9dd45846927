// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors          = 0\n"

func TestTopoSort_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 7 -e 3", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 1", noErrors, 3)      // more PEs than rows
	jobtest.Verify(t, run, "-n 5 -e 0", noErrors, 2) // a permutation
}

func TestMatrix_IsShuffledTriangular(t *testing.T) {
	m := matrix{n: 256, over: 8}
	rows, columns := make([]bool, m.n), make(map[int]int)
	for i := range m.n {
		rows[m.shuffledRow(i)] = true
		columns[m.shuffledColumn(i)] = i
	}
	elements := 0
	for i := range m.n {
		if !rows[i] {
			t.Errorf("no row goes to %d", i)
		}
		for _, c := range m.row(nil, i) {
			if columns[c] < i {
				t.Errorf("row %d has an element in column %d", i, columns[c])
			}
			elements++
		}
	}
	if len(columns) != m.n || elements < 4*m.n {
		t.Errorf("%d columns and %d elements, want %d, and at least %d", len(columns), elements, m.n, 4*m.n)
	}
}

func TestTopoSort_FindsALostPlace(t *testing.T) {
	lost := jobtest.DropOne(func(e loop.Event) bool { return e.Kind == loop.Word && e.Source == 1 && e.Size == 4 })
	out, errs := jobtest.InProcess(t, 3, run, []string{"-n", "7", "-e", "3"}, lost)
	if errs[0] == nil || !strings.HasSuffix(errs[0].Error(), " errors") {
		t.Errorf("PE 0 has error %v, want some errors; it wrote:\n%s", errs[0], out)
	}
}

func TestTopoSort_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	if out := p.Succeed(3, "-n", "10"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	p.Refuse("-e 65 is not in [0, 64]", 2, "-e", "65")
}
