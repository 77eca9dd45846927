// SPDX-License-Identifier: BSD-3-Clause

// Teams multiplies a matrix by a vector on a grid of PEs. Each PE has one block of
// the matrix. The vector's parts go down the columns and the partial results are
// added up along the rows, each by a collective of that team alone.
//
//	gorun -np 6 teams
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/goshmem/goshmem/shmem"
)

const block = 4 // rows and columns of a block

func main() {
	shmem.Main(func(pe *shmem.PE) error { return multiply(pe, os.Stdout) })
}

// multiply computes y = A·x for A[i][j] = i+j and x[j] = j, and checks it. PE 0
// prints one line to w.
func multiply(pe *shmem.PE, w io.Writer) error {
	width := widthFor(pe.NPEs())
	height := pe.NPEs() / width
	row, column, err := pe.World().Split2D(width) // PEs of this row, by column; of this column, by row
	if err != nil {
		return err
	}
	x, err := shmem.Alloc[float64](pe, block)
	if err != nil {
		return err
	}
	y, err := shmem.Alloc[float64](pe, block)
	if err != nil {
		return err
	}
	all, err := shmem.Alloc[float64](pe, height*block) // the product, on PE 0
	if err != nil {
		return err
	}

	// The top row has the vector: each column gets its part.
	left, top := row.MyPE()*block, column.MyPE()*block
	if column.MyPE() == 0 {
		for j := range x.Local() {
			x.Local()[j] = float64(left + j)
		}
	}
	shmem.Broadcast(column, x, x, 0)

	// Each PE multiplies its block, and each row adds up.
	for i := range y.Local() {
		y.Local()[i] = 0
		for j, v := range x.Local() {
			y.Local()[i] += float64(top+i+left+j) * v
		}
	}
	shmem.SumReduce(row, y, y)

	// The left column's PEs put their parts together, on a context of that team: 0 is its first PE.
	if row.MyPE() == 0 {
		ctx, err := column.NewContext()
		if err != nil {
			return err
		}
		shmem.Put(all.On(ctx).Slice(top, top+block), y.Local(), 0)
		ctx.Quiet()
		column.Sync()
	}
	row.Destroy()
	column.Destroy() // and its context
	if pe.MyPE() != 0 {
		return nil
	}
	if err := check(all.Local(), width*block); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%d by %d PEs multiplied a matrix of %d by %d, and the product is right\n", height, width, height*block, width*block)
	return err
}

// widthFor returns the width of the squarest grid of n PEs.
func widthFor(n int) int {
	for h := n; ; h-- {
		if n%h == 0 && h*h <= n {
			return n / h
		}
	}
}

// check compares y with the sums of (i+j)·j over j below n.
func check(y []float64, n int) error {
	for i, got := range y {
		want := 0.0
		for j := range n {
			want += float64((i + j) * j)
		}
		if got != want {
			return fmt.Errorf("element %d of the product is %v, want %v", i, got, want)
		}
	}
	return nil
}
