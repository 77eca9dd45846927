// SPDX-License-Identifier: BSD-3-Clause

// Ring hands a number once around all PEs. Each PE waits for its left
// neighbour's, adds its own and puts the sum to its right, which takes no part
// in the transfer.
//
//	gorun -np 4 ring
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/goshmem/goshmem/shmem"
)

func main() {
	shmem.Main(func(pe *shmem.PE) error { return ring(pe, os.Stdout) })
}

// ring sends the sum of all PE numbers back to PE 0, which checks it and
// prints one line to w.
func ring(pe *shmem.PE, w io.Writer) error {
	me, n := pe.MyPE(), pe.NPEs()
	right := (me + 1) % n

	sum, err := shmem.Alloc[int64](pe, 1) // collective: at the same offset on every PE
	if err != nil {
		return err
	}
	arrived, err := shmem.Alloc[uint64](pe, 1)
	if err != nil {
		return err
	}

	if me == 0 {
		shmem.PutSignal(sum, []int64{0}, arrived, 1, shmem.SigSet, right)
	}
	shmem.SignalWaitUntil(arrived, shmem.CmpEQ, 1) // the signal never overtakes its data
	got := sum.Local()[0]
	if me != 0 {
		shmem.PutSignal(sum, []int64{got + int64(me)}, arrived, 1, shmem.SigSet, right)
		return nil
	}

	if want := int64(n) * int64(n-1) / 2; got != want {
		return fmt.Errorf("the ring of %d PEs brought %d, want %d", n, got, want)
	}
	_, err = fmt.Fprintf(w, "around the ring of %d, the PE numbers add up to %d\n", n, got)
	return err
}
