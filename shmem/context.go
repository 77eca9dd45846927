// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"sync/atomic"

	"github.com/goshmem/goshmem/symheap"
)

// A Context is a stream of operations: its Fence and Quiet order and complete
// those that were issued on it, and no others. PE numbers are those of its
// team. Every object from Alloc is on its PE's default context, which is the
// world's; [Sym.On] puts it on another.
//
// OpenSHMEM 1.6, 9.5.
type Context struct {
	// Set when the context is made; read-only afterwards.
	w    symheap.Window // first: the near ranges are one cache line
	npes int            // of the team
	me   int            // in the team
	pe   *PE
	team *Team

	closed  atomic.Bool
	session atomic.Uint32 // hints of the sessions that are under way
}

// data returns the address of offset off on the team's PE target if loads and
// stores reach it, else nil. live is the object's mask.
//
// It stands here, not in the verbs, because the compiler inlines a function of
// symheap into a verb that a program instantiates only if this package has
// inlined it too, outside of generic code.
func (ctx *Context) data(target int, off uintptr, live uint) pointer {
	return ctx.w.Data(target, off, live)
}

// word is data for atomics.
func (ctx *Context) word(target int, off uintptr, live uint) pointer {
	return ctx.w.Word(target, off, live)
}

// world returns the world's number of the team's PE target.
func (ctx *Context) world(target int) int { return ctx.w.World(target) }

// NPEs returns the number of PEs of the context's team, 0 once it is closed, and -1 for a
// nil context.
func (ctx *Context) NPEs() int {
	if ctx == nil {
		return -1
	}
	return ctx.npes
}

// Fence orders puts, non-fetching atomics and signals to each PE: those issued
// on ctx before it are visible there before those issued after it. It also
// orders direct stores. It completes nothing. On a nil context it does nothing.
//
// Fence panics if the context is closed. OpenSHMEM 1.6, 9.12.1.
func (ctx *Context) Fence() {
	if ctx == nil || ctx.w.FenceDue() {
		ctx.fenceSlow()
	}
}

//go:noinline
func (ctx *Context) fenceSlow() {
	if ctx == nil {
		return
	}
	ctx.check("Fence")
	switch {
	case ctx.w.AllNear():
	case ctx.w.Mixed():
		// An endpoint orders its own operations only. Those to near PEs must be
		// complete before a later direct store can overtake them.
		ctx.must("Fence", -1, ctx.w.Endpoint().Quiet())
	default:
		ctx.must("Fence", -1, ctx.w.Endpoint().Fence())
	}
	ctx.w.Domain().Wake(-1)
}

// complete is Quiet for what was issued to a PE, or only orders direct stores if target is
// negative. Once the context is closed there is nothing to do.
func (ctx *Context) complete(op string, target int) {
	if ctx.w.FenceDue() && !ctx.closed.Load() {
		ctx.completeSlow(op, target)
	}
}

//go:noinline
func (ctx *Context) completeSlow(op string, target int) {
	if target >= 0 {
		one := [...]int{ctx.world(target)}
		err := ctx.w.Endpoint().QuietPEs(unescaped(one[:]))
		if ctx.closed.Load() {
			return // closing has completed it, and perhaps ended the endpoint meanwhile
		}
		ctx.must(op, target, err)
	}
	ctx.w.Domain().Wake(-1)
}

// Quiet returns once every operation issued on ctx before it is complete and
// visible to all PEs, the non-blocking ones included. On a nil context it does nothing.
//
// Quiet panics if the context is closed. OpenSHMEM 1.6, 9.12.2.
func (ctx *Context) Quiet() {
	if ctx == nil || ctx.w.FenceDue() {
		ctx.quietSlow()
	}
}

//go:noinline
func (ctx *Context) quietSlow() {
	if ctx == nil {
		return
	}
	ctx.check("Quiet")
	if !ctx.w.AllNear() {
		ctx.must("Quiet", -1, ctx.w.Endpoint().Quiet())
	}
	ctx.w.Domain().Wake(-1)
}

// QuietPEs is Quiet for the operations on the PEs in list, by their numbers in the
// context's team: it waits for no others, even if one of those is stopped. An empty list
// is a no-op, and so is a nil context.
//
// QuietPEs panics if a PE is out of range or the context is closed. OpenSHMEM 1.6, 9.12.3
// (shmem_pe_quiet).
func (ctx *Context) QuietPEs(list []int) {
	if ctx == nil {
		return
	}
	ctx.check("QuietPEs")
	for _, pe := range list {
		ctx.team.checkPE("QuietPEs", pe)
	}
	if len(list) == 0 {
		return
	}
	ctx.w.Fence()
	if !ctx.w.AllNear() {
		pes := make([]int, len(list))
		for i, pe := range list {
			pes[i] = ctx.world(pe)
		}
		ctx.must("QuietPEs", -1, ctx.w.Endpoint().QuietPEs(pes))
	}
	ctx.w.Domain().Wake(-1)
}
