// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// SignalOp says how a signal is updated.
type SignalOp uint8

// The signal operators of OpenSHMEM 1.6, 9.8.
const (
	SigSet SignalOp = iota // the signal becomes the value
	SigAdd                 // the value is added to the signal, with wrap-around
)

// PutSignal copies src to the first len(src) elements of x on PE target, and
// then updates the signal sig there by op with v. Whoever sees the update sees
// the data, and nothing else: an earlier Put is ordered only by Fence. An empty
// src only signals.
//
// PutSignal returns when src may be reused. x and sig must not overlap. It
// panics if x or sig is zero or freed, if src is longer than x, if sig is not of
// one element or on another context than x, or if target is out of range.
//
// OpenSHMEM 1.6, 9.8.1 (shmem_put_signal).
func PutSignal[T any](x Sym[T], src []T, sig Sym[uint64], v uint64, op SignalOp, target int) {
	if uint(len(src)-1) < uint(x.n) && sig.n == 1 && sig.ctx == x.ctx && op <= SigAdd {
		p := x.ctx.data(target, x.off, x.obj.live)
		s := x.ctx.word(target, sig.off, sig.obj.live)
		if p != nil && s != nil {
			copy(span[T](p, len(src)), src)
			if op == SigSet {
				storeWord(s, v) // after the data: by the machine's order on amd64, by the store elsewhere
			} else {
				add64(s, v)
			}
			if x.ctx.w.Due() {
				x.ctx.wake(target)
			}
			return
		}
	}
	putSignalSlow("PutSignal", x, src, sig, v, op, target)
}

// PutSignalNBI starts a PutSignal and may return before src has been read: src
// must not change until Quiet.
//
// PutSignalNBI panics as PutSignal does. OpenSHMEM 1.6, 9.8.2
// (shmem_put_signal_nbi).
func PutSignalNBI[T any](x Sym[T], src []T, sig Sym[uint64], v uint64, op SignalOp, target int) {
	PutSignal(x, src, sig, v, op, target)
}

//go:noinline
func putSignalSlow[T any](name string, x Sym[T], src []T, sig Sym[uint64], v uint64, op SignalOp, target int) {
	fop := signalOp(name, sig, op, target)
	x.check(name, len(src), target)
	if sig.ctx != x.ctx {
		sig.refuse(name, target, "the signal is on another context than the data")
	}
	ctx := x.ctx
	if len(src) == 0 {
		ctx.must(name, target, ctx.w.Endpoint().Atomic(ctx.world(target), fop, fabric.Uint64, sig.off, v))
		return
	}
	ctx.must(name, target, ctx.w.Endpoint().PutSignal(ctx.world(target), x.off, bytesOf(src), sig.off, fop, v))
}

// signalOp checks a signal and translates its operator.
func signalOp(name string, sig Sym[uint64], op SignalOp, target int) fabric.Op {
	sig.checkScalar(name, target)
	switch op {
	case SigSet:
		return fabric.OpWrite
	case SigAdd:
		return fabric.OpSum
	}
	sig.refuse(name, target, "signal operator %d is neither SigSet nor SigAdd", op)
	return 0
}

// SignalSet sets the signal sig on PE target to v, atomically with respect to
// signal updates and waits. Completion is Put's.
//
// SignalSet panics if sig is zero, freed, or not of one element, or if target
// is out of range. OpenSHMEM 1.6, 9.8.5 (shmem_signal_set).
func SignalSet(sig Sym[uint64], v uint64, target int) { AtomicSet(sig, v, target) }

// SignalAdd adds v to the signal sig on PE target, atomically with respect to
// signal updates and waits. Completion is Put's.
//
// SignalAdd panics as SignalSet does. OpenSHMEM 1.6, 9.8.3 (shmem_signal_add).
func SignalAdd(sig Sym[uint64], v uint64, target int) { AtomicAdd(sig, v, target) }

// SignalFetch returns the calling PE's own signal sig.
//
// SignalFetch panics as SignalSet does. OpenSHMEM 1.6, 9.8.4
// (shmem_signal_fetch).
func SignalFetch(sig Sym[uint64]) uint64 {
	sig.checkScalar("SignalFetch", 0)
	return AtomicFetch(sig, sig.ctx.me)
}

// SignalWaitUntil waits until the calling PE's own signal sig compares to v as
// cmp says, and returns the value that did.
//
// SignalWaitUntil panics as SignalSet does. OpenSHMEM 1.6, 9.11.15
// (shmem_signal_wait_until).
func SignalWaitUntil(sig Sym[uint64], cmp Cmp, v uint64) uint64 {
	for {
		WaitUntil(sig, cmp, v)
		if got, ok := satisfied(sig, cmp, v); ok {
			return got
		}
	}
}

// satisfied returns the own signal, and whether it still compares to v as cmp says when
// a wait is over: another update may have come in between.
func satisfied(sig Sym[uint64], cmp Cmp, v uint64) (got uint64, ok bool) {
	if race.Enabled { // the detector has to see a read
		got = AtomicFetch(sig, sig.ctx.me)
	} else {
		got = loadWord[uint64](sig.ctx.w.Own(sig.off))
	}
	return got, fabric.Compare(cmp, got, v)
}
