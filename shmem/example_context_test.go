// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// The PEs with even numbers count themselves.
func ExampleTeam_SplitStrided() {
	shmemMain(func(pe *shmem.PE) error {
		evens, err := pe.World().SplitStrided(0, 2, (pe.NPEs()+1)/2)
		if err != nil || evens == nil { // nil on the odd ones
			return err
		}
		defer evens.Destroy()
		fmt.Println("PE", evens.MyPE(), "of", evens.NPEs())
		return nil
	})
	// Output: PE 0 of 1
}

// Each goroutine has a context, so that its Quiet does not wait for another's puts.
func ExampleTeam_NewContext() {
	shmemMain(func(pe *shmem.PE) error {
		halves, err := shmem.Alloc[int](pe, 2)
		if err != nil {
			return err
		}
		right := (pe.MyPE() + 1) % pe.NPEs()
		done := make(chan error, 2)
		for i := range 2 {
			go func() {
				ctx, err := pe.World().NewContext()
				if err == nil {
					shmem.PutNBI(halves.Slice(i, i+1).On(ctx), []int{i + 1}, right)
					ctx.Quiet()
					ctx.Close()
				}
				done <- err
			}()
		}
		if err := errors.Join(<-done, <-done); err != nil {
			return err
		}
		pe.BarrierAll()
		fmt.Println(halves.Local())
		return nil
	})
	// Output: [1 2]
}

// Far operations of a Batch session travel several at once.
func ExampleContext_StartSession() {
	shmemMain(func(pe *shmem.PE) error {
		bins, err := shmem.Alloc[int64](pe, 4)
		if err != nil {
			return err
		}
		ctx, err := pe.NewContext()
		if err != nil {
			return err
		}
		defer ctx.Close()
		ctx.StartSession(shmem.SessionConfig{Batch: true})
		for i := range 10 {
			bin := i % (4 * pe.NPEs())
			shmem.AtomicInc(bins.Slice(bin%4, bin%4+1).On(ctx), bin/4)
		}
		ctx.StopSession()
		ctx.Quiet()
		pe.BarrierAll()
		fmt.Println(bins.Local())
		return nil
	})
	// Output: [3 3 2 2]
}

// The next block comes while this one is worked on.
func ExampleGetAsync() {
	shmemMain(func(pe *shmem.PE) error {
		const block = 2
		x, err := shmem.Alloc[int](pe, 3*block)
		if err != nil {
			return err
		}
		copy(x.Local(), []int{1, 2, 3, 4, 5, 6})
		pe.BarrierAll()
		right := (pe.MyPE() + 1) % pe.NPEs()
		var buffers [2][block]int
		next := shmem.GetAsync(buffers[0][:], x.Slice(0, block), right)
		for i := range 3 {
			next.Wait()
			if i < 2 {
				next = shmem.GetAsync(buffers[(i+1)%2][:], x.Slice((i+1)*block, (i+2)*block), right)
			}
			fmt.Print(buffers[i%2], " ")
		}
		fmt.Println()
		return nil
	})
	// Output: [1 2] [3 4] [5 6]
}

// PEs hold a lock one after the other.
func ExampleSetLock() {
	shmemMain(func(pe *shmem.PE) error {
		lock, err := shmem.Alloc[shmem.Lock](pe, 1)
		if err != nil {
			return err
		}
		balance, err := shmem.Alloc[float64](pe, 1)
		if err != nil {
			return err
		}
		shmem.SetLock(lock)
		shmem.PutValue(balance, shmem.GetValue(balance, 0)+2.5, 0)
		shmem.ClearLock(lock)
		pe.BarrierAll()
		fmt.Println(shmem.GetValue(balance, 0) == 2.5*float64(pe.NPEs()))
		return nil
	})
	// Output: true
}

// Whoever is ready first is served first.
func ExampleWaitUntilAny() {
	shmemMain(func(pe *shmem.PE) error {
		ready, err := shmem.Alloc[int32](pe, pe.NPEs())
		if err != nil {
			return err
		}
		me := pe.MyPE()
		for q := range pe.NPEs() {
			shmem.AtomicSet(ready.Slice(me, me+1), 1, q)
		}
		served := make([]int, pe.NPEs())
		for range pe.NPEs() {
			q := shmem.WaitUntilAny(ready, served, shmem.CmpNE, 0)
			served[q] = 1
			fmt.Println("PE", q, "is ready")
		}
		return nil
	})
	// Output: PE 0 is ready
}

// Nobody answers, and the wait ends all the same.
func ExampleWaitUntilContext() {
	shmemMain(func(pe *shmem.PE) error {
		answer, err := shmem.Alloc[int64](pe, 1)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		err = shmem.WaitUntilContext(ctx, answer, shmem.CmpEQ, 42)
		fmt.Println(errors.Is(err, context.DeadlineExceeded))
		return nil
	})
	// Output: true
}
