// SPDX-License-Identifier: BSD-3-Clause

// Linkedlist is a list whose elements are spread over all PEs: each PE adds some to it, at
// the same time as the others and without locks, and PE 0 walks along it.
//
//	gorun -np 4 linkedlist
package main

import (
	"fmt"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/shmem"
)

// An element lives in the symmetric heap of the PE that made it. A Ref names the next one,
// wherever that is: it is a number, not a pointer, so that any PE can read it.
type element struct {
	Next  shmem.Ref[element]
	Value int64
}

const each = 1000 // elements of a PE

func main() {
	shmem.Main(func(pe *shmem.PE) error { return run(pe, command.Output(pe)) })
}

func run(pe *shmem.PE, out io.Writer) error {
	head, err := shmem.Alloc[shmem.Ref[element]](pe, 1) // PE 0's is the list's
	if err != nil {
		return err
	}
	elements, err := shmem.Alloc[element](pe, each)
	if err != nil {
		return err
	}
	for i := range each {
		push(pe, head, elements.At(i), int64(each*pe.MyPE()+i))
	}
	pe.BarrierAll()
	if pe.MyPE() != 0 {
		return nil
	}
	n, sum := walk(pe, head)
	all := int64(each * pe.NPEs())
	if n != all || sum != all*(all-1)/2 {
		return fmt.Errorf("%d elements with the sum %d, want %d with %d", n, sum, all, all*(all-1)/2)
	}
	fmt.Fprintf(out, "%d elements of %d PEs add up to %d\n", n, pe.NPEs(), sum)
	return nil
}

// push puts e at the head of the list.
func push(pe *shmem.PE, head shmem.Sym[shmem.Ref[element]], e shmem.Sym[element], value int64) {
	ref := e.Ref(pe.MyPE())
	for next := shmem.AtomicFetch(head, 0); ; {
		shmem.PutValue(e, element{next, value}, pe.MyPE())
		pe.Quiet() // before another PE can find it
		before := shmem.AtomicCompareSwap(head, next, ref, 0)
		if before == next {
			return
		}
		next = before // another PE was faster
	}
}

// walk returns the number of elements and the sum of their values.
func walk(pe *shmem.PE, head shmem.Sym[shmem.Ref[element]]) (n, sum int64) {
	for ref := shmem.AtomicFetch(head, 0); ref != 0; {
		e := shmem.GetValue(ref.Sym(pe), ref.PE())
		n, sum = n+1, sum+e.Value
		ref = e.Next
	}
	return n, sum
}
