// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// gupsOn runs the program on one PE; PE 0 writes to out.
func gupsOn(pe *shmem.PE, out io.Writer, args ...string) error {
	if pe.MyPE() != 0 {
		out = io.Discard
	}
	return run(pe, args, out)
}

func TestGUPS_InProcess(t *testing.T) {
	for np := 1; np <= 4; np++ {
		var out bytes.Buffer
		shmemtest.Run(t, np, func(pe *shmem.PE) error { return gupsOn(pe, &out, "-n", "8") })
		if !strings.Contains(out.String(), "Updates     = 1024\n") || !strings.Contains(out.String(), "Errors      = 0\n") {
			t.Errorf("np=%d wrote:\n%s", np, out.String())
		}
	}
}

func TestGUPS_FindsALostUpdate(t *testing.T) {
	lost := loop.Faults{Drop: func(e loop.Event) bool {
		return e.Kind == loop.Atomic && e.Source == 1 && e.Issue == 100
	}}
	var out bytes.Buffer
	errs := shmemtest.Try(t, 3, func(pe *shmem.PE) error { return gupsOn(pe, &out, "-n", "8") }, shmemtest.Faults(lost))
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "1 of 256 words are wrong") {
		t.Errorf("PE 0 has error %v, want one wrong word; it wrote:\n%s", errs[0], out.String())
	}
}

func TestGUPS_UnderGorun(t *testing.T) {
	gups := jobtest.Build(t)
	if out := gups.Succeed(3, "-n", "14"); !strings.Contains(out, "GUPS        = 0.") || !strings.Contains(out, "Errors      = 0\n") {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	gups.Refuse("-n 41 is more than 40", 2, "-n", "41")
	gups.Refuse(`unexpected argument "22"`, 2, "22")
}
