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

func TestCG_InProcess(t *testing.T) {
	class := jobtest.Class()
	zeta := map[string]string{"S": " 8.5971775078", "W": "10.362595087"}[class]
	for np := 1; np <= 4; np++ {
		var out bytes.Buffer
		shmemtest.Run(t, np, func(pe *shmem.PE) error {
			return nas.Run(pe, "CG", run, []string{"-class", class, "-timers"}, &out, forms()...)
		})
		for _, want := range []string{
			"Verification    =               SUCCESSFUL\n",
			"Zeta            =         " + zeta,
			"Matrix product  =",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("np=%d: no %q in:\n%s", np, want, out.String())
			}
		}
	}
}

func TestCG_EveryForm(t *testing.T) {
	for _, form := range append([]nas.Form{nas.Go}, nas.Runs(forms())...) {
		var out bytes.Buffer
		shmemtest.Run(t, 1, func(pe *shmem.PE) error {
			return nas.Run(pe, "CG", run, []string{"-class", "S", "-kernel", string(form)}, &out, forms()...)
		})
		if !strings.Contains(out.String(), "Verification    =               SUCCESSFUL\n") {
			t.Errorf("%s wrote:\n%s", form, out.String())
		}
	}
}

// Nodes of two PEs: some parts are read in place, the others come by messages.
func TestCG_NearAndFar(t *testing.T) {
	var out bytes.Buffer
	shmemtest.Run(t, 4, func(pe *shmem.PE) error {
		return nas.Run(pe, "CG", run, []string{"-class", jobtest.Class()}, &out, forms()...)
	}, shmemtest.Nodes(2))
	if !strings.Contains(out.String(), "Verification    =               SUCCESSFUL\n") {
		t.Errorf("it wrote:\n%s", out.String())
	}
}

// One lost part would not do: the method forgives an error that stays away.
func TestCG_FindsLostParts(t *testing.T) {
	const onePart = 1000 // bytes; more than a part of a sum takes
	lost := loop.Faults{Drop: func(e loop.Event) bool {
		return e.Kind == loop.Put && e.Source == 1 && e.Size > onePart
	}}
	var out bytes.Buffer
	errs := shmemtest.Try(t, 2, func(pe *shmem.PE) error {
		return nas.Run(pe, "CG", run, []string{"-class", "S"}, &out, forms()...)
	}, shmemtest.Faults(lost))
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "CG class S: verification failed") {
		t.Errorf("PE 0 has error %v, want a failed verification", errs[0])
	}
	if !strings.Contains(out.String(), "Verification    =             UNSUCCESSFUL\n") {
		t.Errorf("it wrote:\n%s", out.String())
	}
}

func TestCG_UnderGorun(t *testing.T) {
	cg := jobtest.Build(t)
	out := cg.Succeed(3, "-class", jobtest.Class(), "-json")
	if !strings.Contains(out, `"verification":"SUCCESSFUL"`) || !strings.Contains(out, `"processes":3`) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	out = cg.Succeed(2, "-iters", "2")
	if !strings.Contains(out, "Verification    =            NOT PERFORMED\n") {
		t.Errorf("two iterations wrote:\n%s", out)
	}
	cg.Refuse("-iters -3 is negative", 2, "-iters", "-3")
}
