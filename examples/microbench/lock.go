// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

const lockPairs = 1000 // of each PE

// lock measures how long it takes all PEs to take one lock, count under it, and clear it,
// lockPairs times each.
func lock(b *bench) error {
	l, err := shmem.Alloc[shmem.Lock](b.pe, 1)
	if err != nil {
		return err
	}
	count, err := shmem.Alloc[int64](b.pe, 1)
	if err != nil {
		return err
	}
	if b.me == 0 {
		shmem.SetLock(l) // until all stand in line, so that each hand-over is one
	}
	b.pe.BarrierAll()
	if b.me == 0 {
		time.Sleep(20 * time.Millisecond)
		shmem.ClearLock(l)
	}
	start := time.Now()
	for range lockPairs {
		shmem.SetLock(l)
		shmem.PutValue(count, shmem.GetValue(count, 0)+1, 0)
		shmem.ClearLock(l)
	}
	b.pe.BarrierAll()
	figure(b.out, fmt.Sprintf("lock_%d", lockPairs), time.Since(start).Seconds(), "s")
	if got, want := shmem.GetValue(count, 0), int64(lockPairs*b.npes); got != want {
		return fmt.Errorf("counted %d under the lock, want %d", got, want)
	}
	return nil
}
