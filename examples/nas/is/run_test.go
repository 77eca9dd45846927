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

const heap = 8 << 20 // bytes; one PE of class W needs more than half of it

func TestIS_InProcess(t *testing.T) {
	for np := 1; np <= 5; np++ {
		var out bytes.Buffer
		shmemtest.Run(t, np, func(pe *shmem.PE) error {
			return nas.Run(pe, "IS", run, []string{"-class", jobtest.Class(), "-timers"}, &out)
		}, shmemtest.Heap(heap))
		for _, want := range []string{
			"Verification    =               SUCCESSFUL\n",
			"Ranks confirmed =                 50 of 50\n",
			"Keys            =",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("np=%d: no %q in:\n%s", np, want, out.String())
			}
		}
	}
}

// Without moving a key, by the other algorithm; the PEs' intervals of values are not even. Lost
// sums do not go unnoticed.
func TestIS_Counts(t *testing.T) {
	args := []string{"-class", "S", "-algo", "count"}
	for np := 1; np <= 5; np++ {
		var out bytes.Buffer
		shmemtest.Run(t, np, func(pe *shmem.PE) error {
			return nas.Run(pe, "IS", run, args, &out)
		}, shmemtest.Heap(heap))
		for _, want := range []string{"SUCCESSFUL\n", "Ranks confirmed =                 50 of 50\n", "Same keys       =                     true\n", "Algorithm       =                    count\n"} {
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "UNSUCCESSFUL") {
				t.Errorf("np=%d: no %q in:\n%s", np, want, out.String())
			}
		}
	}
	const manyCounts = 1 << 10 // bytes; more than the totals take
	var out bytes.Buffer
	errs := shmemtest.Try(t, 2, func(pe *shmem.PE) error {
		return nas.Run(pe, "IS", run, args, &out)
	}, shmemtest.Nodes(1), shmemtest.Faults(loop.Faults{Drop: func(e loop.Event) bool {
		return (e.Kind == loop.Put || e.Kind == loop.Get) && e.Size > manyCounts
	}}))
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "IS class S: verification failed") {
		t.Errorf("PE 0 has error %v, want a failed verification; it wrote:\n%s", errs[0], out.String())
	}
}

// More iterations than the class's change the same keys again: the ranks stay.
func TestIS_MoreIterations(t *testing.T) {
	var out bytes.Buffer
	shmemtest.Run(t, 2, func(pe *shmem.PE) error {
		return nas.Run(pe, "IS", run, []string{"-iters", "13"}, &out)
	})
	for _, want := range []string{"NOT PERFORMED\n", "65 of 65\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestIS_FindsLostKeys(t *testing.T) {
	const manyKeys = 16 << 10 // bytes; more than the counts take
	lost := loop.Faults{Drop: func(e loop.Event) bool {
		return e.Kind == loop.Put && e.Source == 1 && e.Target == 0 && e.Size > manyKeys
	}}
	var out bytes.Buffer
	errs := shmemtest.Try(t, 2, func(pe *shmem.PE) error {
		return nas.Run(pe, "IS", run, []string{"-class", "S"}, &out)
	}, shmemtest.Faults(lost))
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "IS class S: verification failed") {
		t.Errorf("PE 0 has error %v, want a failed verification", errs[0])
	}
	if !strings.Contains(out.String(), "Verification    =             UNSUCCESSFUL\n") {
		t.Errorf("it wrote:\n%s", out.String())
	}
}

func TestIS_UnderGorun(t *testing.T) {
	is := jobtest.Build(t)
	out := is.Succeed(3, "-class", jobtest.Class(), "-json")
	if !strings.Contains(out, `"verification":"SUCCESSFUL"`) || !strings.Contains(out, `"processes":3`) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	is.Refuse("-iters -3 is negative", 2, "-iters", "-3")
	is.Refuse("-algo radix: this kernel has bucket, count", 2, "-algo", "radix")
}
