// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors     =           0           0           0\n"

func TestIndexGather_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 8 -t 10", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 11 -t 1", noErrors, 3) // two windows; more PEs than words
}

func TestIndexGather_FindsWhatIsLost(t *testing.T) {
	for _, c := range []struct {
		kind loop.Kind
		size int
		want string
	}{
		{loop.Fetch, 8, "atomics: 1 errors"},
		{loop.Get, 8, "put/get: 1 errors"},
		{loop.Word, 4, "batched: 1 errors"}, // a question
	} {
		lost := jobtest.DropOne(func(e loop.Event) bool {
			return e.Kind == c.kind && e.Source == 1 && e.Target == 0 && e.Size == c.size
		})
		out, errs := jobtest.InProcess(t, 2, run, []string{"-n", "8", "-t", "10"}, lost)
		if errs[0] == nil || errs[0].Error() != c.want {
			t.Errorf("PE 0 has error %v, want %q; it wrote:\n%s", errs[0], c.want, out)
		}
	}
}

func TestIndexGather_UnderGorun(t *testing.T) {
	g := jobtest.Build(t)
	if out := g.Succeed(3, "-n", "11", "-t", "12"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	g.Refuse("-n 31 or -t 20 is more than 30", 2, "-n", "31")
}
