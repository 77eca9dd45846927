// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

func TestRing_AddsUpAllNumbers(t *testing.T) {
	for _, c := range []struct {
		np   int
		want string
	}{
		{1, "around the ring of 1, the PE numbers add up to 0\n"},
		{2, "around the ring of 2, the PE numbers add up to 1\n"},
		{3, "around the ring of 3, the PE numbers add up to 3\n"},
		{8, "around the ring of 8, the PE numbers add up to 28\n"},
	} {
		var out bytes.Buffer
		shmemtest.Run(t, c.np, func(pe *shmem.PE) error { return ring(pe, &out) })
		if out.String() != c.want {
			t.Errorf("np=%d: got %q, want %q", c.np, out.String(), c.want)
		}
	}
}

func TestRing_UnderGorun(t *testing.T) {
	if got, want := jobtest.Build(t).Succeed(4), "around the ring of 4, the PE numbers add up to 6\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
