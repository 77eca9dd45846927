// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

func TestEP_InProcess(t *testing.T) {
	class := jobtest.Class()
	annuli := map[string][2]string{"S": {" 6140517\n", "      17\n"}, "W": {"12281576\n", "      36\n"}}[class]
	for np := 1; np <= 4; np++ {
		var out bytes.Buffer
		shmemtest.Run(t, np, func(pe *shmem.PE) error {
			return nas.Run(pe, "EP", run, []string{"-class", class, "-timers"}, &out)
		})
		for _, want := range []string{
			"Verification    =               SUCCESSFUL\n",
			"Annulus 0       =                 " + annuli[0],
			"Annulus 5       =                 " + annuli[1],
			"Batches         =",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("np=%d: no %q in:\n%s", np, want, out.String())
			}
		}
	}
}

func TestEP_UnderGorun(t *testing.T) {
	ep := jobtest.Build(t)
	out := ep.Succeed(3, "-class", jobtest.Class(), "-iters", "2")
	if !strings.Contains(out, "Verification    =            NOT PERFORMED\n") || !strings.Contains(out, "Total processes =                        3\n") {
		t.Errorf("np=3, two iterations, wrote:\n%s", out)
	}
	ep.Refuse("class is one of S, W, A, B, C, D", 2, "-class", "E")
}
