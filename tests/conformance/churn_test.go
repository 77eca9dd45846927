// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/goshmem/goshmem/shmem"
)

// churnRow, in place of a row in rowEnv, is the program that makes and closes contexts.
const churnRow = "churn"

// A footprint is what a process has of the system.
type footprint struct{ files, threads, goroutines, kib int }

func measure() (footprint, error) {
	debug.FreeOSMemory()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return footprint{}, err
	}
	f := footprint{files: len(list), goroutines: runtime.NumGoroutine()}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return footprint{}, err
	}
	for field, n := range map[string]*int{"Threads:": &f.threads, "RssAnon:": &f.kib} {
		_, rest, _ := bytes.Cut(status, []byte(field))
		words := bytes.Fields(rest)
		if len(words) == 0 {
			return footprint{}, fmt.Errorf("/proc/self/status has no %s", field)
		}
		if *n, err = strconv.Atoi(string(words[0])); err != nil {
			return footprint{}, err
		}
	}
	return f, nil
}

// churn makes and closes ten thousand contexts, and then has more open at once than any provider has queues.
func churn(pe *shmem.PE) error {
	const before, rounds, most = 500, 10_000, 500
	x := alloc[int64](pe, most)
	var first footprint
	for i := range before + rounds {
		if i == before {
			var err error
			if first, err = measure(); err != nil {
				return err
			}
		}
		if i%500 == 0 {
			runtime.GC() // what is closed is freed when it is collected
		}
		ctx, err := pe.NewContext()
		if err != nil {
			return fmt.Errorf("context %d: %w", i, err)
		}
		shmem.AtomicInc(x.At(0).On(ctx), right(pe))
		ctx.Close()
	}
	pe.BarrierAll()
	if err := equal("increments", x.Local()[0], before+rounds); err != nil {
		return err
	}
	last, err := measure()
	if err != nil {
		return err
	}
	// libfabric touches its pools, of 13 MiB, by and by. A context that left its C memory would leave 10 KiB.
	const pools = 16 << 10
	if last.files > first.files || last.threads > first.threads+4 || last.goroutines > first.goroutines+4 || last.kib > first.kib+pools {
		return fmt.Errorf("%d contexts have left something: %+v, before %+v", rounds, last, first)
	}
	pe.BarrierAll()
	open := make([]*shmem.Context, most)
	for i := range open {
		if open[i], err = pe.NewContext(); err != nil {
			return fmt.Errorf("with %d contexts open: %w", i, err)
		}
		shmem.PutValue(x.At(i).On(open[i]), int64(i), right(pe))
	}
	for _, ctx := range open {
		ctx.Quiet()
	}
	pe.SyncAll()
	err = equal("words of contexts", x.Local(), count(int64(0), most))
	for _, ctx := range open {
		ctx.Close()
	}
	return err
}

// TestContexts_LeaveNothing: on shm and libfabric, in processes.
func TestContexts_LeaveNothing(t *testing.T) {
	needProcesses(t)
	gorun := buildGorun(t)
	for _, w := range ways() {
		t.Run(w.place, func(t *testing.T) {
			if w.far {
				needLibfabric(t)
			}
			if out, status := startJob(t, gorun, 2, append(w.env, programEnv+"="+t.TempDir(), rowEnv+"="+churnRow)...); status != 0 {
				t.Errorf("status %d:\n%s", status, out)
			}
		})
	}
}
