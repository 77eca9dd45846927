// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/goshmem/goshmem/collectives"
)

// Alloc allocates a symmetric object of n elements, zeroed, and returns once
// every PE has it. Every PE must call it with the same n and T, in the same
// order among its collective calls; n = 0 gives an empty object at once, without
// waiting for anyone.
//
// T must hold no Go pointers: what another PE would do with them is nothing
// good, and the garbage collector does not look into the heap.
//
// The error is the same on every PE: the heap or the machine has too little
// memory, with the numbers and what to do. Alloc panics if T holds pointers or n
// is negative, and on every PE if the arguments differ. OpenSHMEM 1.6, 9.3.1
// (shmem_malloc) and 9.3.6 (shmem_calloc).
func Alloc[T any](pe *PE, n int) (Sym[T], error) {
	return alloc[T]("Alloc", pe, n, alignof[T]())
}

// AllocAligned is Alloc with the object's start aligned to align bytes on every
// PE. align is a power of two, from T's own alignment up to 4096.
//
// AllocAligned panics as Alloc does, and if align is none of these. OpenSHMEM
// 1.6, 9.3.4 (shmem_align).
func AllocAligned[T any](pe *PE, n, align int) (Sym[T], error) {
	if align <= 0 || align&(align-1) != 0 || align > maxAlign || align < int(alignof[T]()) {
		pe.refuse("AllocAligned", fmt.Sprintf("alignment %d: it must be a power of two from %d to %d", align, alignof[T](), maxAlign))
	}
	return alloc[T]("AllocAligned", pe, n, uintptr(align))
}

// Hint says what an object will be used for. OpenSHMEM 1.6, 9.3.5.
type Hint uint

// The hints of OpenSHMEM 1.6, table 2. They may be or-ed together.
const (
	HintAtomicsRemote Hint = 1 << iota // atomics by other PEs
	HintSignalRemote                   // signals by other PEs
)

// AllocHint is Alloc with a hint. Hints change nothing but speed; today they
// change nothing.
//
// AllocHint panics as Alloc does. OpenSHMEM 1.6, 9.3.5
// (shmem_malloc_with_hints).
func AllocHint[T any](pe *PE, n int, _ Hint) (Sym[T], error) {
	return alloc[T]("AllocHint", pe, n, alignof[T]())
}

const (
	maxAlign = 4096

	// From here on, what an allocation needs is held against the limits of the
	// machine and of its cgroups, which means reading files; smaller ones rely on
	// what the kernel says.
	checkedSize = 1 << 20
)

func alloc[T any](op string, pe *PE, n int, align uintptr) (Sym[T], error) {
	checkElement[T](op, pe, n)
	if n == 0 {
		return Sym[T]{ctx: pe.ctx, obj: &object{live: ^uint(0)}}, nil
	}
	size := uintptr(math.MaxInt64)
	if elem := sizeof[T](); elem == 0 || uintptr(n) <= size/elem {
		size = max(uintptr(n)*elem, 1)
	}
	c := collectives.Call{Kind: collectives.KindAlloc, Elem: uint32(sizeof[T]()), N: uint64(n), Arg: uint64(align)}
	pe.mu.Lock()
	off, err := pe.heap.Alloc(size, align)
	pe.mu.Unlock()
	obj := &object{live: ^uint(0), off: off, size: size}
	if err == nil {
		pe.objects.add(obj) // before another PE has it and passes a Ref on
	}
	if err := pe.claim(op, c, off, size, err); err != nil {
		pe.objects.remove(obj)
		return Sym[T]{}, err
	}
	return Sym[T]{ctx: pe.ctx, obj: obj, off: off, n: n}, nil
}

// claim makes the size bytes at off that the allocator gave usable on every
// PE, or gives them back on every PE. err is what the allocator said, the same
// everywhere; what the machine says may differ and is agreed on.
func (pe *PE) claim(op string, c collectives.Call, off, size uintptr, err error) error {
	pe.ctx.Quiet()
	if err != nil {
		pe.sync(op, c) // still collective: another PE may have asked for less
		return fmt.Errorf("shmem: %s: %w", op, err)
	}
	if pe.commit == nil {
		pe.sync(op, c)
		return nil
	}
	if size >= checkedSize {
		if err := pe.agree(op, c, pe.commit.Affords(size)); err != nil {
			return pe.unclaim(off, err)
		}
	}
	if err := pe.agree(op, c, pe.commit.Commit(off, size)); err != nil {
		return pe.unclaim(off, err)
	}
	pe.commit.Populate(off, size)
	return nil
}

func (pe *PE) unclaim(off uintptr, err error) error {
	pe.mu.Lock()
	defer pe.mu.Unlock()
	return errors.Join(err, pe.heap.Free(off))
}

// agree returns an error on every PE if any has one.
func (pe *PE) agree(op string, c collectives.Call, own error) error {
	failed, err := pe.world.enter(op).Agree(c, own != nil)
	pe.world.done(op, err)
	switch {
	case own != nil:
		return fmt.Errorf("shmem: %s on PE %d: %w", op, pe.me, own)
	case failed:
		return fmt.Errorf("shmem: %s: another PE has too little memory; its own error says how much it needs", op)
	}
	return nil
}

// Free ends a symmetric object. It waits for every PE before the memory is
// given back; every PE must call it for the same object. Freeing the zero Sym or
// an empty object does nothing, at once. Every use of the object, through
// whatever copy of its Sym, is refused until another object takes its memory;
// slices from Local stay valid memory.
//
// Free panics if x is a part of an object, or freed already. OpenSHMEM 1.6, 9.3.2
// (shmem_free).
func Free[T any](x Sym[T]) {
	if x.n == 0 && (x.obj == nil || x.obj.size == 0) {
		return
	}
	x.checkWhole("Free")
	x.ctx.pe.free("Free", x.obj)
}

// checkWhole panics unless x is all of an object that is not freed.
func (x Sym[T]) checkWhole(op string) {
	x.check(op, 0, 0)
	if x.obj.off != x.off || x.obj.size != max(uintptr(x.n)*sizeof[T](), 1) {
		x.refuse(op, -1, "this is a part of an object of %d bytes at offset %d: free the object", x.obj.size, x.obj.off)
	}
}

func (pe *PE) free(op string, obj *object) {
	pe.ctx.Quiet()
	pe.sync(op, collectives.Call{Kind: collectives.KindFree, Arg: uint64(obj.off)})
	obj.live = 0
	pe.objects.remove(obj)
	pe.release(obj.off, obj.size)
	pe.mu.Lock()
	defer pe.mu.Unlock()
	if err := pe.heap.Free(obj.off); err != nil {
		pe.ctx.fail(op, -1, err)
	}
}

// release gives memory back, cleared: Alloc hands out zeroes.
func (pe *PE) release(off, size uintptr) {
	if pe.commit == nil {
		clear(within[byte](pe.domain.Map(pe.me), off, int(size)))
		return
	}
	if err := pe.commit.Release(off, size); err != nil {
		pe.ctx.fail("Free", -1, err)
	}
}

// Realloc returns an object of n elements that begins with x's, as many as
// fit, on every PE; what is new is zero. x is freed. The zero Sym makes it Alloc, and n = 0 makes it Free and returns
// an empty object. An alignment above T's own is not kept.
//
// On error x is as it was, on every PE. Realloc panics as Alloc and Free do.
// OpenSHMEM 1.6, 9.3.3 (shmem_realloc).
func Realloc[T any](pe *PE, x Sym[T], n int) (Sym[T], error) {
	checkElement[T]("Realloc", pe, n)
	if x.n == 0 || n == 0 {
		Free(x)
		return Alloc[T](pe, n)
	}
	x.checkWhole("Realloc")
	y, err := alloc[T]("Realloc", pe, n, alignof[T]())
	if err != nil {
		return Sym[T]{}, err
	}
	copy(y.Local(), x.Local())
	pe.free("Realloc", x.obj)
	return y, nil
}

// checkElement panics if T can't be in the symmetric heap or n is negative.
func checkElement[T any](op string, pe *PE, n int) {
	if pe == nil {
		panic(&Error{Op: op, PE: -1, Target: -1, Reason: "the PE is nil: use what Main or Init gave", Site: callSite()})
	}
	if n < 0 {
		pe.refuse(op, fmt.Sprintf("%d elements: the number may not be negative", n))
	}
	if path := pointerIn(reflect.TypeFor[T](), ""); path != "" {
		pe.refuse(op, fmt.Sprintf("element type %v holds a Go pointer (%s): another PE could not follow it", reflect.TypeFor[T](), path))
	}
}

// refuse panics because of arguments that name no object.
func (pe *PE) refuse(op, reason string) {
	panic(&Error{Op: op, PE: pe.me, Target: -1, Reason: reason, Site: callSite()})
}

// pointerIn returns where in a type the first pointer is, or "".
func pointerIn(t reflect.Type, at string) string {
	switch t.Kind() {
	case reflect.Bool, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return ""
	case reflect.Array:
		if t.Len() == 0 {
			return ""
		}
		return pointerIn(t.Elem(), at+"[0]")
	case reflect.Struct:
		for f := range t.Fields() {
			if p := pointerIn(f.Type, at+"."+f.Name); p != "" {
				return p
			}
		}
		return ""
	default:
		if at == "" {
			return "a " + t.Kind().String()
		}
		return fmt.Sprintf("%s is a %s", at, t.Kind())
	}
}
