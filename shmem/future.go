// SPDX-License-Identifier: BSD-3-Clause

package shmem

// A Future stands for a transfer that has been started. It is a value: copies stand for
// the same transfer, and the zero Future for one that is complete. Any goroutine may wait
// for it, several at once too.
//
// Beyond OpenSHMEM 1.6.
type Future struct {
	ctx    *Context // nil: complete
	target int      // of the team; -1: it was stored directly
}

// Wait returns once the transfer is complete: a put is visible to all PEs, and its source
// may be reused; a get's data, or an atomic's old value, is there. What was issued on the same
// context to the same PE is completed as well; what goes to others is not waited for, even if
// one of those is stopped. It takes neither a lock nor the network where all of it is complete.
// After the context was closed, which completes all, Wait returns at once.
//
// Beyond OpenSHMEM 1.6.
func (f Future) Wait() {
	if f.ctx != nil {
		f.ctx.complete("Wait", f.target)
	}
}

// PutAsync starts a Put and may return before src has been read: src must not change,
// and nothing is known about the data, until the future's Wait, or Quiet.
//
// PutAsync panics as Put does. Beyond OpenSHMEM 1.6, 9.6.2.
func PutAsync[T any](x Sym[T], src []T, target int) Future {
	if uint(len(src)-1) < uint(x.n) {
		if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
			copy(span[T](p, len(src)), src)
			return Future{x.ctx, -1} // complete at once, but Wait has to order it
		}
	}
	putNBISlow(x, src, target)
	return Future{x.ctx, target}
}

// GetAsync starts a Get and may return before dst has been written: dst must not be used
// until the future's Wait, or Quiet.
//
// GetAsync panics as Get does. Beyond OpenSHMEM 1.6, 9.6.2.
func GetAsync[T any](dst []T, x Sym[T], target int) Future {
	if uint(len(dst)-1) < uint(x.n) {
		if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
			copy(dst, span[T](p, len(dst)))
			return Future{}
		}
	}
	getNBISlow(dst, x, target)
	return Future{x.ctx, target}
}

// AtomicFetchAddAsync starts an AtomicFetchAdd whose old value is in *result after the
// future's Wait, or Quiet; until then *result must not be used.
//
// AtomicFetchAddAsync panics as AtomicFetchAddNBI does. Beyond OpenSHMEM 1.6, 9.7.2.
func AtomicFetchAddAsync[T Scalar](result *T, x Sym[T], v T, target int) Future {
	AtomicFetchAddNBI(result, x, v, target)
	if isNear(result, x, target) {
		return Future{}
	}
	return Future{x.ctx, target}
}
