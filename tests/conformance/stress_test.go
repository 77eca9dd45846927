// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"strconv"
	"testing"

	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// stressRow, followed by a number of rounds, is the stress in place of a row in rowEnv.
const stressRow = "stress "

// stress is a row that goes on for long.
func stress(rounds int) func(pe *shmem.PE) error {
	return func(pe *shmem.PE) error {
		if err := mixture(pe, rounds); err != nil {
			return err
		}
		return amidBusy(pe, pe.Quiet)
	}
}

// TestStress: many goroutines of several PEs, that do everything there is at once, for some seconds.
func TestStress(t *testing.T) {
	const np, near, far = 4, 600, 50
	t.Run("loop", func(t *testing.T) {
		rounds := near
		if race.Enabled {
			rounds = far
		}
		if err := first(shmemtest.Try(t, np, stress(rounds))...); err != nil {
			t.Error(err)
		}
	})
	needProcesses(t)
	gorun := buildGorun(t)
	for _, w := range ways() {
		t.Run(w.place, func(t *testing.T) {
			rounds := near
			if w.far {
				needLibfabric(t)
				rounds = far
			}
			out, status := startJob(t, gorun, np, append(w.env, programEnv+"="+t.TempDir(), rowEnv+"="+stressRow+strconv.Itoa(rounds))...)
			if status != 0 {
				t.Errorf("status %d:\n%s", status, out)
			}
		})
	}
}
