// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"fmt"
	"log"

	"github.com/goshmem/goshmem/shmem"
)

// shmemMain stands for shmem.Main, which ends the process. The examples run
// with one PE; they are programs for any number.
func shmemMain(run func(*shmem.PE) error) {
	pe, err := shmem.Init()
	if err == nil {
		err = run(pe)
	}
	if err == nil {
		err = pe.Finalize()
	}
	if err != nil {
		log.Fatal(err)
	}
}

// Every PE sends its number to the next.
func Example() {
	run := func(pe *shmem.PE) error {
		right := (pe.MyPE() + 1) % pe.NPEs()
		inbox, err := shmem.Alloc[int](pe, 1)
		if err != nil {
			return err
		}
		shmem.PutValue(inbox, pe.MyPE(), right)
		pe.BarrierAll()
		fmt.Println("PE", pe.MyPE(), "got", inbox.Local()[0])
		return nil
	}
	shmemMain(run) // shmem.Main(run) in a program
	// Output: PE 0 got 0
}

// A program that is more than one function: what needs no shmem.Main.
func ExampleInit() {
	pe, err := shmem.Init()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("PE %d of %d\n", pe.MyPE(), pe.NPEs())
	if err := pe.Finalize(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(shmem.Initialized())
	// Output:
	// PE 0 of 1
	// false
}

func ExampleAlloc() {
	type particle struct {
		X, V float64
		ID   int32
	}
	shmemMain(func(pe *shmem.PE) error {
		particles, err := shmem.Alloc[particle](pe, 100)
		if err != nil {
			return err
		}
		defer shmem.Free(particles) // collective too
		particles.Local()[7] = particle{X: 1.5, ID: 3}
		pe.BarrierAll()
		fmt.Println(shmem.GetValue(particles.At(7), 0))
		return nil
	})
	// Output: {1.5 0 3}
}

// Parts of objects are objects.
func ExampleSym_Slice() {
	shmemMain(func(pe *shmem.PE) error {
		x, err := shmem.Alloc[int32](pe, 6)
		if err != nil {
			return err
		}
		shmem.Put(x.Slice(2, 5), []int32{7, 8, 9}, 0)
		shmem.PutValue(x.At(0), 1, 0)
		pe.BarrierAll()
		fmt.Println(x.Local(), x.Slice(3, 6).Len())
		return nil
	})
	// Output: [1 0 7 8 9 0] 3
}

// Put returns when the source may be reused, and Quiet when the data is there.
func ExamplePut() {
	shmemMain(func(pe *shmem.PE) error {
		log, err := shmem.Alloc[byte](pe, 64)
		if err != nil {
			return err
		}
		last := pe.NPEs() - 1
		message := []byte("hello")
		shmem.Put(log, message, last)
		copy(message, "-----")
		pe.Quiet()
		got := make([]byte, len(message))
		shmem.Get(got, log, last)
		fmt.Printf("%s\n", got)
		return nil
	})
	// Output: hello
}

// A column of a matrix that is stored by rows.
func ExamplePutStrided() {
	const rows, columns = 3, 4
	shmemMain(func(pe *shmem.PE) error {
		matrix, err := shmem.Alloc[float64](pe, rows*columns)
		if err != nil {
			return err
		}
		shmem.PutStrided(matrix.Slice(2, rows*columns), []float64{1, 2, 3}, columns, 1, rows, 0)
		pe.BarrierAll()
		for i := range rows {
			fmt.Println(matrix.Local()[i*columns : (i+1)*columns])
		}
		return nil
	})
	// Output:
	// [0 0 1 0]
	// [0 0 2 0]
	// [0 0 3 0]
}

// All PEs draw from one counter.
func ExampleAtomicFetchAdd() {
	shmemMain(func(pe *shmem.PE) error {
		next, err := shmem.Alloc[int64](pe, 1)
		if err != nil {
			return err
		}
		for {
			task := shmem.AtomicFetchAdd(next, 1, 0)
			if task >= 3 {
				return nil
			}
			fmt.Println("task", task)
		}
	})
	// Output:
	// task 0
	// task 1
	// task 2
}

// A signal tells that its data has come, without a barrier.
func ExamplePutSignal() {
	shmemMain(func(pe *shmem.PE) error {
		data, err := shmem.Alloc[float32](pe, 3)
		if err != nil {
			return err
		}
		arrived, err := shmem.Alloc[uint64](pe, 1)
		if err != nil {
			return err
		}
		right := (pe.MyPE() + 1) % pe.NPEs()
		shmem.PutSignal(data, []float32{1, 2, 3}, arrived, 1, shmem.SigSet, right)
		shmem.SignalWaitUntil(arrived, shmem.CmpEQ, 1)
		fmt.Println(data.Local())
		return nil
	})
	// Output: [1 2 3]
}

// A Fence orders a put before the flag that tells of it.
func ExamplePE_Fence() {
	shmemMain(func(pe *shmem.PE) error {
		data, err := shmem.Alloc[int](pe, 2)
		if err != nil {
			return err
		}
		ready, err := shmem.Alloc[int32](pe, 1)
		if err != nil {
			return err
		}
		right := (pe.MyPE() + 1) % pe.NPEs()
		shmem.Put(data, []int{3, 4}, right)
		pe.Fence()
		shmem.AtomicSet(ready, 1, right)
		shmem.WaitUntil(ready, shmem.CmpEQ, 1)
		fmt.Println(data.Local())
		return nil
	})
	// Output: [3 4]
}

func ExampleSumReduce() {
	shmemMain(func(pe *shmem.PE) error {
		x, err := shmem.Alloc[float64](pe, 2)
		if err != nil {
			return err
		}
		copy(x.Local(), []float64{0.5, float64(pe.MyPE())})
		shmem.SumReduce(pe.World(), x, x)
		n := float64(pe.NPEs())
		fmt.Println(x.Local()[0] == n/2, x.Local()[1] == n*(n-1)/2)
		return nil
	})
	// Output: true true
}

// Misuse panics with an Error.
func ExampleError() {
	shmemMain(func(pe *shmem.PE) error {
		x, err := shmem.Alloc[int64](pe, 4)
		if err != nil {
			return err
		}
		defer func() {
			e := recover().(*shmem.Error)
			fmt.Printf("%s: %s: %s\n", e.Op, e.Range, e.Reason)
		}()
		shmem.Put(x, make([]int64, 5), 0)
		return nil
	})
	// Output: Put: elements 0 to 4: 5 elements do not fit the object's 4
}
