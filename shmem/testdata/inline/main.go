// SPDX-License-Identifier: BSD-3-Clause

// Command inline calls what must be inlined, for TestInlining.
package main

import (
	"fmt"

	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/symheap"
)

func main() { shmem.Main(run) }

func run(pe *shmem.PE) error {
	x, err := shmem.Alloc[int64](pe, pe.NPEs()+1)
	if err != nil {
		return err
	}
	ctx := x.Context()
	y := x.On(ctx).Slice(0, x.Len()).At(pe.MyPE())
	y.Local()[0]++
	ctx.Fence()
	ctx.Quiet()
	pe.Fence()
	pe.Quiet()
	fmt.Println(near(nil))
	return nil
}

// near does what verbs do.
func near(w *symheap.Window) bool {
	if w == nil {
		return false
	}
	w.Fence()
	return w.Due() && w.Data(0, 0, 0) == nil && w.Word(0, 0, 0) == nil
}
