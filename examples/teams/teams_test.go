// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

func TestTeams_ProductIsRight(t *testing.T) {
	for _, c := range []struct {
		np   int
		want string
	}{
		{1, "1 by 1 PEs multiplied a matrix of 4 by 4, and the product is right\n"},
		{2, "1 by 2 PEs multiplied a matrix of 4 by 8, and the product is right\n"},
		{6, "2 by 3 PEs multiplied a matrix of 8 by 12, and the product is right\n"},
		{9, "3 by 3 PEs multiplied a matrix of 12 by 12, and the product is right\n"},
	} {
		var out bytes.Buffer
		shmemtest.Run(t, c.np, func(pe *shmem.PE) error { return multiply(pe, &out) })
		if out.String() != c.want {
			t.Errorf("np=%d: got %q, want %q", c.np, out.String(), c.want)
		}
	}
}

func TestTeams_NoticeALostPut(t *testing.T) {
	lossy := loop.Faults{Drop: func(e loop.Event) bool { return e.Kind == loop.Put && e.Off >= segment.SystemSize }}
	for _, err := range shmemtest.Try(t, 6, func(pe *shmem.PE) error { return multiply(pe, new(bytes.Buffer)) }, shmemtest.Faults(lossy)) {
		if err != nil {
			return
		}
	}
	t.Error("all puts were lost, and the product was right")
}

func TestTeams_UnderGorun(t *testing.T) {
	if got, want := jobtest.Build(t).Succeed(4), "2 by 2 PEs multiplied a matrix of 8 by 8, and the product is right\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
