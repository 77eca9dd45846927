// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors     =           0           0           0\n"

func TestGUPS_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 8", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 10", noErrors, 3) // two rounds of puts
}

func TestGUPS_FindsALostUpdate(t *testing.T) {
	lost := jobtest.DropOne(func(e loop.Event) bool { return e.Kind == loop.Atomic && e.Source == 1 })
	out, errs := jobtest.InProcess(t, 3, run, []string{"-n", "8"}, lost)
	if errs[0] == nil || errs[0].Error() != "atomics: 1 errors" {
		t.Errorf("PE 0 has error %v, want one wrong word; it wrote:\n%s", errs[0], out)
	}
}

func TestGUPS_FindsALostBucket(t *testing.T) {
	const words = 64 // more than a reduction moves, fewer than a bucket has
	lost := jobtest.DropOne(func(e loop.Event) bool {
		return e.Kind == loop.Put && e.Source == 1 && e.Target == 0 && e.Size > 8*words
	})
	out, errs := jobtest.InProcess(t, 3, run, []string{"-n", "8"}, lost)
	if errs[0] == nil || !strings.HasPrefix(errs[0].Error(), "put/get: ") {
		t.Errorf("PE 0 has error %v, want some of put/get; it wrote:\n%s", errs[0], out)
	}
}

func TestGUPS_UnderGorun(t *testing.T) {
	gups := jobtest.Build(t)
	if out := gups.Succeed(3, "-n", "14"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	gups.Refuse("-n 41 is more than 40", 2, "-n", "41")
	gups.Refuse(`unexpected argument "22"`, 2, "22")
}
