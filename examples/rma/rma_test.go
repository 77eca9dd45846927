// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

const last = "sizes     wrote 1 byte to 1 MiB, whatever way they took\n"

func TestWalk_TakesEveryStep(t *testing.T) {
	for _, np := range []int{1, 2, 3, 8} {
		var out bytes.Buffer
		shmemtest.Run(t, np, func(pe *shmem.PE) error { return walk(pe, &out) }, shmemtest.Heap(2<<20))
		if lines := strings.Count(out.String(), "\n"); lines != len(steps) || !strings.HasSuffix(out.String(), last) {
			t.Errorf("np=%d: got %d lines:\n%s", np, lines, out.String())
		}
	}
}

func TestWalk_NoticesWhatIsLost(t *testing.T) {
	for _, kind := range []loop.Kind{loop.Put, loop.Get, loop.Word} {
		lossy := loop.Faults{Drop: func(e loop.Event) bool { return e.Kind == kind && e.Off >= segment.SystemSize }}
		failed := false
		for _, err := range shmemtest.Try(t, 2, func(pe *shmem.PE) error { return walk(pe, new(bytes.Buffer)) }, shmemtest.Heap(2<<20), shmemtest.Faults(lossy)) {
			failed = failed || err != nil
		}
		if !failed {
			t.Errorf("a fabric that loses every %v goes unnoticed", kind)
		}
	}
}

func TestWalk_UnderGorun(t *testing.T) {
	if got := jobtest.Build(t).Succeed(2); !strings.HasSuffix(got, last) {
		t.Errorf("got %q", got)
	}
}
