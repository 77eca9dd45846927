// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/internal/spin"
)

// WaitUntil returns once the calling PE's own x, an object of one element,
// compares to v as cmp says. Then everything is visible that was ordered before
// the update that made it so. Only x's own bytes count.
//
// The update comes from another PE's atomic, signal or PutValue, or from
// another goroutine. WaitUntil panics if x is zero, freed, or not of one element,
// or if cmp is none of the six.
//
// OpenSHMEM 1.6, 9.11.1 (shmem_wait_until).
func WaitUntil[T Integer](x Sym[T], cmp Cmp, v T) {
	if x.n == 1 && x.ctx.w.Spin() > 0 && x.obj.live != 0 && cmp <= CmpLE && !race.Enabled {
		p := x.ctx.w.Own(x.off)
		for i := x.ctx.w.Spin(); ; {
			if fabric.Compare(cmp, loadWord[T](p), v) {
				return
			}
			if i--; i < 0 {
				break
			}
			spin.Pause()
		}
	}
	waitSlow(x, cmp, v)
}

//go:noinline
func waitSlow[T Integer](x Sym[T], cmp Cmp, v T) {
	x.checkWait("WaitUntil", cmp)
	x.ctx.must("WaitUntil", -1, x.ctx.w.Domain().Wait(condition(x, cmp, v)))
}

// Test reports whether the calling PE's own x, an object of one element,
// compares to v as cmp says. It does not wait. If it reports true, everything
// is visible that was ordered before the update that made it so; if false, it
// lets other PEs and goroutines run now and then.
//
// Test panics as WaitUntil does. OpenSHMEM 1.6, 9.11.8 (shmem_test).
func Test[T Integer](x Sym[T], cmp Cmp, v T) bool {
	x.checkWait("Test", cmp)
	if holds(x, cmp, v) {
		return true
	}
	x.ctx.polled("Test")
	return false
}

// holds reports whether the calling PE's own x, of one element, compares to v as cmp
// says. It reads the word as a wait does, not through an endpoint, and drives nothing.
func holds[T Integer](x Sym[T], cmp Cmp, v T) bool {
	if race.Enabled { // the domain knows what the detector has to
		return x.ctx.w.Domain().Look(condition(x, cmp, v))
	}
	return fabric.Compare(cmp, loadWord[T](x.ctx.w.Own(x.off)), v)
}

// condition is what a domain takes for x's first element.
func condition[T Integer](x Sym[T], cmp Cmp, v T) fabric.Cond {
	return fabric.Cond{PE: x.ctx.pe.me, Off: x.off, Type: datatypeOf[T](), Cmp: cmp, Value: bits(v)}
}

// polled is called when a program has polled in vain: it owes the others what a wait
// would give them.
func (ctx *Context) polled(op string) {
	ctx.must(op, -1, ctx.w.Endpoint().Progress())
	if ctx.w.Due() {
		ctx.w.Domain().Wake(-1)
	}
}

func (x Sym[T]) checkWait(op string, cmp Cmp) {
	x.checkScalar(op, 0)
	if !cmp.Valid() {
		x.refuse(op, -1, "comparison %d is none of CmpEQ, NE, GT, GE, LT, LE", uint8(cmp))
	}
}
