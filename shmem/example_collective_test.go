// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"fmt"

	"github.com/goshmem/goshmem/shmem"
)

// All see what each has, as much as that may be.
func ExampleCollect() {
	shmemMain(func(pe *shmem.PE) error {
		n := pe.NPEs()
		found, err := shmem.Alloc[int](pe, 3)
		if err != nil {
			return err
		}
		all, err := shmem.Alloc[int](pe, 3*n)
		if err != nil {
			return err
		}
		copy(found.Local(), []int{7, 8})
		shmem.Collect(pe.World(), all, found.Slice(0, 2))
		fmt.Println(all.Local()[:2*n])
		return nil
	})
	// Output: [7 8]
}

// Every PE hands its keys to the PE that is to have them.
func ExampleAllToAllV() {
	shmemMain(func(pe *shmem.PE) error {
		n := pe.NPEs()
		keys, err := shmem.Alloc[int](pe, 2*n) // two for each PE, in the PEs' order
		if err != nil {
			return err
		}
		mine, err := shmem.Alloc[int](pe, 2*n)
		if err != nil {
			return err
		}
		counts, err := shmem.Alloc[int64](pe, n)
		if err != nil {
			return err
		}
		for q := range n {
			counts.Local()[q] = 2
			copy(keys.Local()[2*q:], []int{q, q})
		}
		received := make([]int, n)
		shmem.AllToAllV(pe.World(), mine, keys, counts, received)
		fmt.Println(mine.Local()[:2], received[0])
		return nil
	})
	// Output: [0 0] 2
}

// Each PE learns where its part of a common list begins.
func ExampleSumExclusiveScan() {
	shmemMain(func(pe *shmem.PE) error {
		length, err := shmem.Alloc[int](pe, 1)
		if err != nil {
			return err
		}
		begin, err := shmem.Alloc[int](pe, 1)
		if err != nil {
			return err
		}
		length.Local()[0] = 5
		shmem.SumExclusiveScan(pe.World(), begin, length)
		fmt.Println(begin.Local()[0] == 5*pe.MyPE())
		return nil
	})
	// Output: true
}
