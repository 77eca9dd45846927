// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors          = 0\n"

func TestNBody_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 50 -steps 4", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 2 -steps 2", noErrors, 3) // more PEs than bodies
}

func TestPull_OfTwoBodies(t *testing.T) {
	own, others := []body{{vector{1, 0, 0}, 5}}, []body{{vector{1, 0, 0}, 5}, {vector{1, 3, 4}, 2}}
	acceleration, potential := make([]vector, 1), make([]float64, 1)
	pull(acceleration, potential, own, others)
	distance := math.Sqrt(25 + softening)
	f := 2 / (distance * distance * distance)
	want := vector{0, 3 * f, 4 * f}
	if d := acceleration[0].plus(-1, want); d.dot(d) > 1e-24 || math.Abs(potential[0]+2/distance) > 1e-12 {
		t.Errorf("acceleration %v and potential %v, want %v and %v", acceleration[0], potential[0], want, -2/distance)
	}
}

// The pull of a copy that is lost is missing in the momentum.
func TestNBody_FindsALostCopy(t *testing.T) {
	const np, n = 3, 60
	lost := jobtest.DropOne(func(e loop.Event) bool {
		return e.Kind == loop.Put && e.Source == 1 && e.Target == 2 && e.Size == 8*4*n/np
	})
	out, errs := jobtest.InProcess(t, np, run, []string{"-n", "60", "-steps", "1"}, lost)
	if errs[0] == nil || !strings.HasSuffix(errs[0].Error(), " errors") {
		t.Errorf("PE 0 has error %v, want some errors; it wrote:\n%s", errs[0], out)
	}
}

func TestNBody_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	if out := p.Succeed(3, "-n", "100", "-steps", "5"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	p.Refuse("-n 0 is not in [1, 1048576]", 2, "-n", "0")
}
