// SPDX-License-Identifier: BSD-3-Clause

// Rma walks through the ways to move data between PEs. In every step each PE
// writes to its right neighbour, or reads from it, and checks what came; the
// neighbour takes no part.
//
//	gorun -np 2 rma
//	gorun -np 2 --fabric ofi --stats rma    # by fi_write and fi_read, counted
package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

func main() {
	shmem.Main(func(pe *shmem.PE) error { return walk(pe, os.Stdout) })
}

var steps = [...]struct {
	name, what string
	run        func(pe *shmem.PE, left, right int) error
}{
	{"put", "wrote 5 numbers to the right, there after a barrier", put},
	{"get", "read 5 numbers from the right, here on return", get},
	{"value", "wrote and read single numbers", value},
	{"strided", "wrote a column of a matrix, and read every other block of it", strided},
	{"nbi", "started 8 puts and 8 gets, and finished them by one Quiet", nonBlocking},
	{"vectored", "wrote 3 ranges of different lengths at once, and read 2", vectored},
	{"sizes", "wrote 1 byte to 1 MiB, whatever way they took", sizes},
}

// walk does all steps. PE 0 writes a line to w for each.
func walk(pe *shmem.PE, w io.Writer) error {
	me, n := pe.MyPE(), pe.NPEs()
	for _, step := range steps {
		if err := step.run(pe, (me+n-1)%n, (me+1)%n); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		pe.BarrierAll()
		if me == 0 {
			if _, err := fmt.Fprintf(w, "%-9s %s\n", step.name, step.what); err != nil {
				return err
			}
		}
	}
	return nil
}

// put: the source may be reused when Put returns; the data is at the target after
// a barrier, or a Quiet of the PE that put it.
func put(pe *shmem.PE, left, right int) error {
	x, err := shmem.Alloc[int64](pe, 5)
	if err != nil {
		return err
	}
	src := numbers(pe.MyPE(), 5)
	shmem.Put(x, src, right)
	clear(src)
	pe.BarrierAll()
	return same(x.Local(), numbers(left, 5))
}

// get: the data is here when Get returns. The barrier is there because the
// neighbour stores to its own memory first, as any Go program does.
func get(pe *shmem.PE, _, right int) error {
	x, err := shmem.Alloc[int64](pe, 5)
	if err != nil {
		return err
	}
	copy(x.Local(), numbers(pe.MyPE(), 5))
	pe.BarrierAll()
	dst := make([]int64, 5)
	shmem.Get(dst, x, right)
	return same(dst, numbers(right, 5))
}

// value: one element. x.At(i) is a symmetric object of its own.
func value(pe *shmem.PE, left, right int) error {
	x, err := shmem.Alloc[float64](pe, 3)
	if err != nil {
		return err
	}
	shmem.PutValue(x.At(1), float64(pe.MyPE())+0.5, right)
	pe.BarrierAll()
	if err := same(x.Local(), []float64{0, float64(left) + 0.5, 0}); err != nil {
		return err
	}
	return same([]float64{shmem.GetValue(x.At(1), right)}, []float64{float64(pe.MyPE()) + 0.5})
}

// strided: a 4×6 matrix by rows. A column is one element of each row, 6 apart;
// blocks of 2 from every other row are 12 apart.
func strided(pe *shmem.PE, left, right int) error {
	const rows, columns = 4, 6
	matrix, err := shmem.Alloc[int64](pe, rows*columns)
	if err != nil {
		return err
	}
	column := numbers(pe.MyPE(), rows)
	shmem.PutStrided(matrix.Slice(2, matrix.Len()), column, columns, 1, rows, right)
	pe.BarrierAll()
	for r, v := range numbers(left, rows) {
		if err := same(matrix.Local()[r*columns:][:columns], []int64{0, 0, v, 0, 0, 0}); err != nil {
			return fmt.Errorf("row %d: %w", r, err)
		}
	}
	blocks := make([]int64, 4)
	shmem.GetBlocks(blocks, matrix.Slice(1, matrix.Len()), 2, 2*columns, 2, 2, right)
	return same(blocks, []int64{0, column[0], 0, column[2]}) // what went there just now
}

// nonBlocking: until Quiet nothing is known about any of them, and neither
// sources nor destinations may be touched.
func nonBlocking(pe *shmem.PE, left, right int) error {
	const each = 1000
	x, err := shmem.Alloc[int64](pe, 8*each)
	if err != nil {
		return err
	}
	y, err := shmem.Alloc[int64](pe, 8*each)
	if err != nil {
		return err
	}
	copy(y.Local(), numbers(pe.MyPE(), 8*each))
	pe.BarrierAll()
	src, dst := numbers(pe.MyPE(), 8*each), make([]int64, 8*each)
	for i := 0; i < 8*each; i += each {
		shmem.PutNBI(x.Slice(i, i+each), src[i:i+each], right)
		shmem.GetNBI(dst[i:i+each], y.Slice(i, i+each), right)
	}
	pe.Quiet()
	if err := same(dst, numbers(right, 8*each)); err != nil {
		return err
	}
	pe.SyncAll() // everybody has come past its Quiet
	return same(x.Local(), numbers(left, 8*each))
}

// vectored: ranges of any length, at any distance, in one call and few messages.
func vectored(pe *shmem.PE, left, right int) error {
	x, err := shmem.Alloc[int64](pe, 10)
	if err != nil {
		return err
	}
	mine := numbers(pe.MyPE(), 6)
	shmem.PutV(x, []shmem.Part[int64]{{At: 9, Elems: mine[:1]}, {At: 1, Elems: mine[1:4]}, {At: 6, Elems: mine[4:]}}, right)
	pe.BarrierAll()
	v := numbers(left, 6)
	if err := same(x.Local(), []int64{0, v[1], v[2], v[3], 0, 0, v[4], v[5], 0, v[0]}); err != nil {
		return err
	}
	got := make([]int64, 3)
	shmem.GetV([]shmem.Part[int64]{{At: 6, Elems: got[:2]}, {At: 9, Elems: got[2:]}}, x, right)
	return same(got, []int64{mine[4], mine[5], mine[0]})
}

// sizes: over a network the smallest puts travel inside the request (they are
// injected), middling ones are copied first so that the source is free at once,
// and large ones go out from where they are. A program does not see which.
func sizes(pe *shmem.PE, left, right int) error {
	const largest = 1 << 20
	x, err := shmem.Alloc[byte](pe, largest)
	if err != nil {
		return err
	}
	src := make([]byte, largest)
	for size := 1; size <= largest; size *= 4 {
		for i := range src[:size] {
			src[i] = byte(i*7 + size + pe.MyPE())
		}
		shmem.Put(x, src[:size], right)
		pe.BarrierAll()
		for i, b := range x.Local()[:size] {
			if want := byte(i*7 + size + left); b != want {
				return fmt.Errorf("%d bytes: byte %d is %d, want %d", size, i, b, want)
			}
		}
		pe.BarrierAll() // before the next put to the same place
	}
	return nil
}

// numbers returns n numbers that tell PEs apart.
func numbers(pe, n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = int64(1000*(pe+1) + i)
	}
	return s
}

func same[T comparable](got, want []T) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}
