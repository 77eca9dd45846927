// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// sleepRow, in place of a row in rowEnv, is the program whose PEs sleep in a wait.
const sleepRow = "sleep"

// sleepers waits for a word that the last PE sets after a while, and says what the wait took of
// a core. 1 % is what it may take; twice that is let through, for the runtime's own threads.
func sleepers(pe *shmem.PE) error {
	const long, most = 3 * time.Second, 0.02
	x := alloc[int64](pe, 1)
	pe.BarrierAll()
	before, err := used()
	if err != nil {
		return err
	}
	begin := time.Now()
	if pe.MyPE() == pe.NPEs()-1 {
		time.Sleep(long)
		for q := range pe.NPEs() {
			shmem.AtomicSet(x, 1, q)
		}
		return nil
	}
	shmem.WaitUntil(x, shmem.CmpEQ, 1)
	after, err := used()
	if share := float64(after-before) / float64(time.Since(begin)); err == nil && share > most {
		err = fmt.Errorf("a wait of %v took %.1f %% of a core, want at most %.0f %%", time.Since(begin), 100*share, 100*most)
	}
	return err
}

// TestWait_SleepsAtLittleCost: on shm and libfabric, in as many processes as there are cores here, and in more. The
// provider sockets has threads that poll, which take 15 to 70 % of a core whatever the PE does.
func TestWait_SleepsAtLittleCost(t *testing.T) {
	needProcesses(t)
	gorun := buildGorun(t)
	for _, w := range ways() {
		if w.place == "ofi sockets" {
			continue
		}
		for _, n := range []int{2, 5} { // PEs that have a core each sleep otherwise
			t.Run(fmt.Sprintf("%s/%d", w.place, n), func(t *testing.T) {
				if w.far {
					needLibfabric(t)
				}
				t.Parallel() // they sleep
				if out, status := startJob(t, gorun, n, append(w.env, programEnv+"="+t.TempDir(), rowEnv+"="+sleepRow)...); status != 0 {
					t.Errorf("status %d:\n%s", status, out)
				}
			})
		}
	}
}
