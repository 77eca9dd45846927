// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// wanted is what a run of np PEs prints.
func wanted(np int) string {
	n := each * np
	return fmt.Sprintf("%d elements of %d PEs add up to %d\n", n, np, n*(n-1)/2)
}

func TestList_HasEveryElementOnce(t *testing.T) {
	for _, np := range []int{1, 2, 5} {
		var out bytes.Buffer
		shmemtest.Run(t, np, func(pe *shmem.PE) error { return run(pe, &out) })
		if out.String() != wanted(np) {
			t.Errorf("np=%d: got %q, want %q", np, out.String(), wanted(np))
		}
	}
}

func TestList_UnderGorun(t *testing.T) {
	if got := jobtest.Build(t).Succeed(4); got != wanted(4) {
		t.Errorf("got %q, want %q", got, wanted(4))
	}
}
