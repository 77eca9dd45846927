// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"fmt"

	"github.com/goshmem/goshmem/shmem"
)

// Two ranges go out in one call, and one comes back.
func ExamplePutV() {
	shmemMain(func(pe *shmem.PE) error {
		right := (pe.MyPE() + 1) % pe.NPEs()
		x, err := shmem.Alloc[int](pe, 8)
		if err != nil {
			return err
		}
		shmem.PutV(x, []shmem.Part[int]{
			{At: 5, Elems: []int{50, 51}},
			{At: 1, Elems: []int{10}},
		}, right)
		pe.BarrierAll()
		fmt.Println(x.Local())

		some := make([]int, 2)
		shmem.GetV([]shmem.Part[int]{{At: 6, Elems: some[:1]}, {At: 1, Elems: some[1:]}}, x, right)
		fmt.Println(some)
		return nil
	})
	// Output:
	// [0 10 0 0 0 50 51 0]
	// [51 10]
}

// All PEs report a temperature; the word keeps the greatest.
func ExampleAtomicMax() {
	shmemMain(func(pe *shmem.PE) error {
		hottest, err := shmem.Alloc[float64](pe, 1)
		if err != nil {
			return err
		}
		for _, t := range []float64{36.5, 41.25, 38} {
			shmem.AtomicMax(hottest, t, 0)
		}
		pe.BarrierAll()
		fmt.Println(shmem.AtomicFetch(hottest, 0))
		return nil
	})
	// Output: 41.25
}

// A level that only rises.
func ExampleAtomicCompareSwapIf() {
	shmemMain(func(pe *shmem.PE) error {
		level, err := shmem.Alloc[int32](pe, 1)
		if err != nil {
			return err
		}
		for _, next := range []int32{2, 1, 3} {
			old := shmem.AtomicCompareSwapIf(level, shmem.CmpLT, next, next, 0)
			fmt.Println(old, "to", shmem.AtomicFetch(level, 0))
		}
		return nil
	})
	// Output:
	// 0 to 2
	// 2 to 2
	// 2 to 3
}

// The sum is made while the program works on something else, in other collectives too.
func ExampleSumReduceAsync() {
	shmemMain(func(pe *shmem.PE) error {
		residual, err := shmem.Alloc[float64](pe, 1)
		if err != nil {
			return err
		}
		residual.Local()[0] = 0.25
		sum := shmem.SumReduceAsync(pe.World(), residual, residual)
		pe.BarrierAll() // and whatever needs no residual
		sum.Wait()
		fmt.Println(residual.Local()[0])
		return nil
	})
	// Output: 0.25
}
