// SPDX-License-Identifier: BSD-3-Clause

package shmem

// Sym is a symmetric object: n elements of type T at the same offset in the
// symmetric heap of every PE. It is a value of four words; copies name the same
// object. A Sym is meaningful only on the PE that allocated it: to name the
// object to another PE, pass what both agree on, such as an index.
//
// The zero Sym has no elements. Every verb refuses it, except Free.
//
// OpenSHMEM 1.6, 3 (Memory Model) and 9.3.
type Sym[T any] struct {
	ctx *Context
	obj *object
	off uintptr // of the first element, in bytes from the start of the segment
	n   int     // elements
}

// object heads one allocation. Every Sym of it points here.
type object struct {
	live uint    // all ones; 0 once freed, and then no PE is near
	off  uintptr // where it starts
	size uintptr // in bytes
}

// Len returns the number of elements. It is 0 for the zero Sym.
func (x Sym[T]) Len() int { return x.n }

// On returns the same object with its operations on ctx: PE numbers are those
// of ctx's team, and only ctx's Fence and Quiet order and complete them.
//
// On panics if ctx is nil. OpenSHMEM 1.6, 9.5.
func (x Sym[T]) On(ctx *Context) Sym[T] {
	if ctx == nil {
		x.noContext()
	}
	x.ctx = ctx
	return x
}

//go:noinline
func (x Sym[T]) noContext() {
	x.refuse("On", -1, "the context is nil: use what NewContext returned")
}

// Context returns the context that x's operations go through, or nil for the zero Sym.
func (x Sym[T]) Context() *Context { return x.ctx }

// Local returns the calling PE's own elements. They are ordinary memory: other
// PEs' puts and atomics change it, and what makes a change visible is a
// barrier, a wait, or a signal. The slice stays valid memory after Free, when
// it no longer belongs to x. Local of the zero Sym is nil.
func (x Sym[T]) Local() []T {
	if x.n == 0 {
		return nil
	}
	return span[T](x.ctx.w.Own(x.off), x.n)
}

// Ptr returns x's elements on PE target as memory of this process, or nil if
// loads and stores do not reach it. In shmemtest, PEs are usually far from each
// other, so that the race detector sees every transfer, and Ptr returns nil
// except for the own PE.
//
// Ptr panics if target is out of range. OpenSHMEM 1.6, 9.1.9 and 9.1.10.
func Ptr[T any](x Sym[T], target int) []T {
	x.check("Ptr", 0, target)
	if x.n == 0 {
		return nil
	}
	if target == x.ctx.w.Me() {
		return x.Local()
	}
	if mem := x.ctx.w.Domain().Map(x.ctx.world(target)); mem != nil {
		return within[T](mem, x.off, x.n)
	}
	return nil
}
