// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"context"
	"sync/atomic"
)

// The forms named Context wait as those without do, but no longer than ctx lasts: then
// they return ctx.Err(). A condition that holds wins over a context that is done. They
// may allocate.

// WaitUntilContext is WaitUntil, until ctx is done. OpenSHMEM 1.6, 9.11.1, and beyond it.
func WaitUntilContext[T Integer](ctx context.Context, x Sym[T], cmp Cmp, v T) error {
	x.checkWait("WaitUntilContext", cmp)
	s := wordSet[T]{x: x, cmp: cmp, v: v}
	return x.ctx.pe.until(ctx, func(stop *atomic.Bool) bool { return s.awaitAll("WaitUntilContext", stop) })
}

// WaitUntilAllContext is WaitUntilAll, until ctx is done. OpenSHMEM 1.6, 9.11.2, and
// beyond it.
func WaitUntilAllContext[T Integer](ctx context.Context, x Sym[T], status []int, cmp Cmp, v T) error {
	s := wordSet[T]{x: x, status: status, cmp: cmp, v: v}
	s.check("WaitUntilAllContext")
	return s.awaitAllContext(ctx, "WaitUntilAllContext")
}

// WaitUntilAnyContext is WaitUntilAny, until ctx is done: then it returns −1 and the
// error. OpenSHMEM 1.6, 9.11.3, and beyond it.
func WaitUntilAnyContext[T Integer](ctx context.Context, x Sym[T], status []int, cmp Cmp, v T) (int, error) {
	s := wordSet[T]{x: x, status: status, cmp: cmp, v: v}
	s.check("WaitUntilAnyContext")
	return s.awaitAnyContext(ctx, "WaitUntilAnyContext")
}

// WaitUntilSomeContext is WaitUntilSome, until ctx is done: then it returns 0 and the
// error. OpenSHMEM 1.6, 9.11.4, and beyond it.
func WaitUntilSomeContext[T Integer](ctx context.Context, indices []int, x Sym[T], status []int, cmp Cmp, v T) (int, error) {
	s := wordSet[T]{x: x, status: status, cmp: cmp, v: v}
	s.check("WaitUntilSomeContext")
	s.checkIndices("WaitUntilSomeContext", indices)
	return s.awaitSomeContext(ctx, "WaitUntilSomeContext", indices)
}

// WaitUntilAllVectorContext is WaitUntilAllVector, until ctx is done. OpenSHMEM 1.6,
// 9.11.5, and beyond it.
func WaitUntilAllVectorContext[T Integer](ctx context.Context, x Sym[T], status []int, cmp Cmp, v []T) error {
	s := wordSet[T]{x: x, status: status, cmp: cmp, values: v}
	s.checkVector("WaitUntilAllVectorContext")
	return s.awaitAllContext(ctx, "WaitUntilAllVectorContext")
}

// WaitUntilAnyVectorContext is WaitUntilAnyVector, until ctx is done: then it returns −1
// and the error. OpenSHMEM 1.6, 9.11.6, and beyond it.
func WaitUntilAnyVectorContext[T Integer](ctx context.Context, x Sym[T], status []int, cmp Cmp, v []T) (int, error) {
	s := wordSet[T]{x: x, status: status, cmp: cmp, values: v}
	s.checkVector("WaitUntilAnyVectorContext")
	return s.awaitAnyContext(ctx, "WaitUntilAnyVectorContext")
}

// WaitUntilSomeVectorContext is WaitUntilSomeVector, until ctx is done: then it returns 0
// and the error. OpenSHMEM 1.6, 9.11.7, and beyond it.
func WaitUntilSomeVectorContext[T Integer](ctx context.Context, indices []int, x Sym[T], status []int, cmp Cmp, v []T) (int, error) {
	s := wordSet[T]{x: x, status: status, cmp: cmp, values: v}
	s.checkVector("WaitUntilSomeVectorContext")
	s.checkIndices("WaitUntilSomeVectorContext", indices)
	return s.awaitSomeContext(ctx, "WaitUntilSomeVectorContext", indices)
}

// SignalWaitUntilContext is SignalWaitUntil, until ctx is done: then it returns 0 and the
// error. OpenSHMEM 1.6, 9.11.15, and beyond it.
func SignalWaitUntilContext(ctx context.Context, sig Sym[uint64], cmp Cmp, v uint64) (uint64, error) {
	for {
		if err := WaitUntilContext(ctx, sig, cmp, v); err != nil {
			return 0, err
		}
		if got, ok := satisfied(sig, cmp, v); ok {
			return got, nil
		}
	}
}

func (s *wordSet[T]) awaitAllContext(ctx context.Context, op string) error {
	return s.x.ctx.pe.until(ctx, func(stop *atomic.Bool) bool { return s.awaitAll(op, stop) })
}

func (s *wordSet[T]) awaitAnyContext(ctx context.Context, op string) (i int, err error) {
	err = s.x.ctx.pe.until(ctx, func(stop *atomic.Bool) bool {
		i = s.awaitAny(op, stop)
		return i >= 0 || s.isEmpty()
	})
	return i, err
}

func (s *wordSet[T]) awaitSomeContext(ctx context.Context, op string, indices []int) (n int, err error) {
	err = s.x.ctx.pe.until(ctx, func(stop *atomic.Bool) bool {
		n = s.awaitSome(op, indices, stop)
		return n > 0 || s.isEmpty()
	})
	return n, err
}

// until runs wait with a flag that ctx sets when it is done, and returns why it was in
// vain, if it was.
func (pe *PE) until(ctx context.Context, wait func(stop *atomic.Bool) bool) error {
	var stop atomic.Bool
	forget := context.AfterFunc(ctx, func() {
		stop.Store(true)
		pe.domain.Wake(pe.me)
	})
	defer forget()
	if wait(&stop) {
		return nil
	}
	return ctx.Err()
}
