// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

const heap = 16 << 20 // bytes; one PE of class W needs more than half of it

func TestFT_InProcess(t *testing.T) {
	class := jobtest.Class()
	checksum := map[string]string{"S": "(554.26834119", "W": "(550.41597345"}[class]
	for np := 1; np <= 8; np *= 2 {
		var out bytes.Buffer
		shmemtest.Run(t, np, func(pe *shmem.PE) error {
			return nas.Run(pe, "FT", run, []string{"-class", class, "-timers"}, &out, forms()...)
		}, shmemtest.Heap(heap))
		for _, want := range []string{
			"Verification    =               SUCCESSFUL\n",
			"Last checksum   = " + checksum,
			"Exchange        =",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("np=%d: no %q in:\n%s", np, want, out.String())
			}
		}
	}
}

func TestFT_EveryForm(t *testing.T) {
	for _, form := range append([]nas.Form{nas.Go}, nas.Runs(forms())...) {
		var out bytes.Buffer
		shmemtest.Run(t, 1, func(pe *shmem.PE) error {
			return nas.Run(pe, "FT", run, []string{"-class", "S", "-kernel", string(form)}, &out, forms()...)
		}, shmemtest.Heap(heap))
		if !strings.Contains(out.String(), "Verification    =               SUCCESSFUL\n") {
			t.Errorf("%s wrote:\n%s", form, out.String())
		}
	}
}

// Nodes of two PEs: some rows are read in place, the others are fetched. The
// race detector sees what Go does, not what assembly does.
func TestFT_NearAndFar(t *testing.T) {
	var out bytes.Buffer
	shmemtest.Run(t, 4, func(pe *shmem.PE) error {
		return nas.Run(pe, "FT", run, []string{"-class", jobtest.Class(), "-kernel", "go"}, &out, forms()...)
	}, shmemtest.Nodes(2), shmemtest.Heap(heap))
	if !strings.Contains(out.String(), "Verification    =               SUCCESSFUL\n") {
		t.Errorf("it wrote:\n%s", out.String())
	}
}

func TestFT_FindsLostRows(t *testing.T) {
	const manyRows = 32 << 10 // bytes; more than anything else takes
	gets := 0
	lost := loop.Faults{Drop: func(e loop.Event) bool {
		if e.Kind != loop.Get || e.Source != 1 || e.Size < manyRows {
			return false
		}
		gets++
		return gets == 150 // of 288; in the second step, where the first has left others
	}}
	var out bytes.Buffer
	errs := shmemtest.Try(t, 2, func(pe *shmem.PE) error {
		return nas.Run(pe, "FT", run, []string{"-class", "S"}, &out, forms()...)
	}, shmemtest.Faults(lost), shmemtest.Heap(heap))
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "FT class S: verification failed") {
		t.Errorf("PE 0 has error %v, want a failed verification", errs[0])
	}
	if !strings.Contains(out.String(), "Verification    =             UNSUCCESSFUL\n") {
		t.Errorf("it wrote:\n%s", out.String())
	}
}

func TestFT_UnderGorun(t *testing.T) {
	ft := jobtest.Build(t)
	out := ft.Succeed(4, "-class", jobtest.Class(), "-json")
	if !strings.Contains(out, `"verification":"SUCCESSFUL"`) || !strings.Contains(out, `"processes":4`) {
		t.Errorf("np=4 wrote:\n%s", out)
	}
	out = ft.Succeed(2, "-iters", "9")
	if !strings.Contains(out, "Verification    =            NOT PERFORMED\n") {
		t.Errorf("nine iterations wrote:\n%s", out)
	}
	ft.Refuse("-iters -3 is negative", 2, "-iters", "-3")
	ft.Refuse("FT of 64×64×64 points runs on a power of two of PEs, 64 at most, not on 3", 3)
}
