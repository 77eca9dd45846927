// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"fmt"
	"slices"
	"sync"
)

// A Ref names one element of type T on one PE, for whoever reads it: unlike a [Sym] it
// holds no pointer, so that it may be in the symmetric heap itself, in linked structures
// that span PEs. It is one word: put, atomics and waits take it as they take a uint64, and
// AtomicCompareSwap is all that a list without locks needs. Refs are equal if they name
// the same element; the zero Ref names none.
//
//	type node struct {
//		Next  shmem.Ref[node]
//		Value int64
//	}
//
// A job of more than 1,048,574 PEs, or a heap of more than 16 TiB, has no Refs of its
// last PEs or bytes. Beyond OpenSHMEM 1.6.
type Ref[T any] uint64

// The bits of a Ref.
//
//	 63                44 43                          0
//	PE's number, from 1 on   offset in its segment, bytes
const (
	refOffsetBits = 44
	refMostPEs    = 1<<(64-refOffsetBits) - 2
)

// Ref returns the reference to x, an object of one element, on PE target.
//
// Ref panics if x is zero, freed, or not of one element, or if target is out of range.
func (x Sym[T]) Ref(target int) Ref[T] {
	x.checkScalar("Ref", target)
	pe := x.ctx.world(target)
	if pe > refMostPEs || x.off>>refOffsetBits != 0 {
		x.refuse("Ref", target, "a reference holds no PE above %d and no offset above %d", refMostPEs, 1<<refOffsetBits-1)
	}
	return Ref[T](uint64(pe+1)<<refOffsetBits | uint64(x.off))
}

// PE returns the number, in the world, of the PE that r names an element of, or −1 for
// the zero Ref.
func (r Ref[T]) PE() int { return int(r>>refOffsetBits) - 1 }

// Sym returns the symmetric object of one element, on pe's default context, that r names
// on PE r.PE(). Of the zero Ref it is the zero Sym.
//
// Sym panics if no object is there that r could be of: its object was freed, or r was
// not made by Sym.Ref.
func (r Ref[T]) Sym(pe *PE) Sym[T] {
	if r == 0 {
		return Sym[T]{}
	}
	off := uintptr(r & (1<<refOffsetBits - 1))
	obj := pe.objects.find(off)
	if obj == nil || off+sizeof[T]() > obj.off+obj.size || off%alignof[T]() != 0 || uint(r.PE()) >= uint(pe.npes) {
		pe.refuse("Sym", fmt.Sprintf("%v names no element of a symmetric object: was it freed?", r))
	}
	return Sym[T]{ctx: pe.ctx, obj: obj, off: off, n: 1}
}

// String says what r names.
func (r Ref[T]) String() string {
	if r == 0 {
		return "zero Ref"
	}
	return fmt.Sprintf("Ref of offset %d on PE %d", uint64(r)&(1<<refOffsetBits-1), r.PE())
}

// objects are those of a PE that are allocated, in the order of their offsets.
type objects struct {
	mu   sync.RWMutex
	list []*object
}

// place returns where the object at off is in the list, or would be.
func (o *objects) place(off uintptr) (i int, found bool) {
	return slices.BinarySearchFunc(o.list, off, func(obj *object, off uintptr) int {
		switch {
		case obj.off < off:
			return -1
		case obj.off > off:
			return 1
		}
		return 0
	})
}

func (o *objects) add(obj *object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i, _ := o.place(obj.off)
	o.list = slices.Insert(o.list, i, obj)
}

func (o *objects) remove(obj *object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i, found := o.place(obj.off); found {
		o.list = slices.Delete(o.list, i, i+1)
	}
}

// find returns the object that holds offset off, or nil.
func (o *objects) find(off uintptr) *object {
	o.mu.RLock()
	defer o.mu.RUnlock()
	i, found := o.place(off)
	if !found {
		i--
	}
	if i < 0 || off-o.list[i].off >= o.list[i].size {
		return nil
	}
	return o.list[i]
}
