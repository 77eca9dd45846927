// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

func TestMG_InProcess(t *testing.T) {
	class := jobtest.Class()
	norm := map[string]string{"S": "5.30770700573", "W": "6.46732937533"}[class]
	for _, np := range []int{1, 2, 4, 8, 32} {
		var out bytes.Buffer
		shmemtest.Run(t, np, func(pe *shmem.PE) error {
			return nas.Run(pe, "MG", run, []string{"-class", class, "-timers"}, &out)
		})
		for _, want := range []string{
			"Verification    =               SUCCESSFUL\n",
			"L2 norm         =      " + norm,
			"Ghosts          =",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("np=%d: no %q in:\n%s", np, want, out.String())
			}
		}
	}
}

// Classes are cut across x on many PEs only, but it may be done on few.
func TestMG_AlsoCutAcrossX(t *testing.T) {
	for _, size := range [][axes]int{{2, 1, 1}, {2, 2, 1}, {2, 2, 2}} {
		p := problems['S']
		shmemtest.Run(t, size[axisX]*size[axisY]*size[axisZ], func(pe *shmem.PE) error {
			m, err := newMultigrid(pe, p, torusOf(pe.MyPE(), size), planesOf(nas.Go), nas.NewTimers(false))
			if err != nil {
				return err
			}
			m.finestResidual()
			for range p.iterations {
				m.cycle()
			}
			if norm := m.norm(); !p.verify(norm) {
				t.Errorf("torus %v: PE %d has norm %v, want %v", size, pe.MyPE(), norm, p.norm)
			}
			return nil
		})
	}
}

// Each cycle leaves a residual that is many times smaller.
func TestMG_ConvergesFurther(t *testing.T) {
	var out bytes.Buffer
	shmemtest.Run(t, 2, func(pe *shmem.PE) error {
		return nas.Run(pe, "MG", run, []string{"-iters", "8"}, &out)
	})
	var norm float64
	_, text, _ := strings.Cut(out.String(), "\n L2 norm         =")
	if _, err := fmt.Sscan(text, &norm); err != nil || norm <= 0 || norm > 1e-6 {
		t.Errorf("the norm after 8 cycles is %v (error %v), want less than 1e-6; it wrote:\n%s", norm, err, out.String())
	}
	if !strings.Contains(out.String(), "NOT PERFORMED\n") {
		t.Errorf("8 iterations of class S were verified:\n%s", out.String())
	}
}

// A face whose data are lost, but not its signal, spoils the solution.
func TestMG_FindsLostFaces(t *testing.T) {
	const largeFaces = 8 << 10 // bytes; no other transfer is that large
	lost := loop.Faults{Drop: func(e loop.Event) bool {
		return e.Kind == loop.Put && e.Source == 1 && e.Target == 0 && e.Size > largeFaces
	}}
	var out bytes.Buffer
	errs := shmemtest.Try(t, 2, func(pe *shmem.PE) error {
		return nas.Run(pe, "MG", run, []string{"-class", "S"}, &out)
	}, shmemtest.Faults(lost))
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "MG class S: verification failed") {
		t.Errorf("PE 0 has error %v, want a failed verification", errs[0])
	}
}

func TestMG_UnderGorun(t *testing.T) {
	mg := jobtest.Build(t)
	for _, np := range []int{2, 8} {
		out := mg.Succeed(np, "-class", jobtest.Class(), "-json")
		if !strings.Contains(out, `"verification":"SUCCESSFUL"`) || !strings.Contains(out, fmt.Sprintf(`"processes":%d`, np)) {
			t.Errorf("np=%d wrote:\n%s", np, out)
		}
	}
	mg.Refuse("MG of 32³ points runs on a power of two of PEs, 32 at most, not on 3", 3)
}
