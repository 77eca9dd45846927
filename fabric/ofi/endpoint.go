// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"cmp"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/goshmem/goshmem/fabric"
)

// An Endpoint implements [fabric.Endpoint] and every optional capability.
type Endpoint struct {
	// Set at the start; read-only afterwards.
	d *Domain
	s stream // freed when nobody has the endpoint any more

	closed atomic.Bool
	pins   pins
	turns  turns

	written written
	batch   batch
}

func newEndpoint(d *Domain, s stream) *Endpoint {
	e := &Endpoint{d: d, s: s, written: written{pes: map[int]bool{}}}
	e.turns.begin = d.turns.begin
	runtime.AddCleanup(e, stream.close, s)
	return e
}

// usable returns an error if e is closed.
func (e *Endpoint) usable() error {
	if e.closed.Load() {
		return errClosed
	}
	return nil
}

// Put implements [fabric.Endpoint].
func (e *Endpoint) Put(pe int, dst fabric.Addr, src []byte) error {
	return e.put(pe, dst, src, putCopy)
}

func (e *Endpoint) put(pe int, dst fabric.Addr, src []byte, how int) error {
	if len(src) == 0 {
		return e.usable()
	}
	if how == putCopy && e.batch.open.Load() && len(src) <= maxSmall {
		if taken, err := e.collectPut(pe, dst, src); taken || err != nil {
			return err
		}
	}
	t, err := e.target("put", pe, dst, len(src))
	if err != nil {
		return err
	}
	defer e.wrote(pe)
	post := func(src []byte) error {
		_, err := e.drive("put", pe, src, func(from uint64, w waiter) result { return e.s.put(t, src, from, how, w) })
		return err
	}
	if how == putCopy && len(src) <= bounceSize {
		return post(src) // it is copied before anything is waited for
	}
	return e.sending(src, post)
}

// Get implements [fabric.Endpoint].
func (e *Endpoint) Get(pe int, dst []byte, src fabric.Addr) error {
	if len(dst) == 0 {
		return e.usable()
	}
	t, err := e.target("get", pe, src, len(dst))
	if err != nil {
		return err
	}
	e.d.flushDirty()
	if len(dst) > largestOnStack {
		_, err = e.drive("get", pe, dst, func(from uint64, w waiter) result { return e.s.get(t, dst, from, false, w) })
		return err
	}
	h := e.d.copies.take(len(dst))
	_, err = e.drive("get", pe, h.bytes, func(from uint64, w waiter) result { return e.s.get(t, h.bytes, from, false, w) })
	if err == nil {
		copy(dst, h.bytes)
		e.d.copies.put(h) // after an error something may still be in flight
	}
	return err
}

// PutSignal implements [fabric.SignalPutter]: the signal is updated when the data
// has been delivered.
func (e *Endpoint) PutSignal(pe int, dst fabric.Addr, src []byte, signal fabric.Addr, op fabric.Op, v uint64) error {
	e.d.flushDirty()
	if op != fabric.OpWrite && op != fabric.OpSum {
		return fmt.Errorf("fabric/ofi: a signal can't be updated by %v", op)
	}
	if len(src) == 0 || !e.d.native.plain.Has(op, fabric.Uint64) {
		if err := e.put(pe, dst, src, putAwait); err != nil {
			return err
		}
		return e.Atomic(pe, op, fabric.Uint64, signal, v)
	}
	t, err := e.target("put", pe, dst, len(src))
	if err != nil {
		return err
	}
	defer e.wrote(pe)
	sig, err := e.target("signal", pe, signal, 8)
	if err != nil {
		return err
	}
	awaited := false
	err = e.sending(src, func(src []byte) error {
		_, err := e.drive("put", pe, src, func(from uint64, w waiter) result {
			r := e.s.putSignal(t, src, sig, fiOps[op], v, from, w)
			awaited = r.status == pending // then the signal was not posted yet
			return r
		})
		return err
	})
	if err == nil && awaited {
		_, err = e.drive("signal", pe, nil, func(uint64, waiter) result { return e.s.atomic(sig, fiOps[op], int(fabric.Uint64), v) })
	}
	return err
}

// target returns where an operation goes, if the endpoint is usable.
func (e *Endpoint) target(op string, pe int, off fabric.Addr, size int) (target, error) {
	if e.closed.Load() {
		return target{}, errClosed
	}
	return e.d.target(op, pe, off, size)
}

// drive does one operation: step posts it, or goes on from where a step before
// had to stop. What is in flight after the step's own patience is waited for here.
// buf is what the operation reads or writes meanwhile. It returns the step's value.
func (e *Endpoint) drive(op string, pe int, buf []byte, step func(from uint64, w waiter) result) (uint64, error) {
	r := step(0, waiter{})
	e.turns.call()
	if r.status == done {
		e.d.ring()
		return r.value, nil
	}
	return e.driveOn(op, pe, buf, step, r)
}

// driveOn goes on with an operation whose first step came to r.
func (e *Endpoint) driveOn(op string, pe int, buf []byte, step func(from uint64, w waiter) result, r result) (uint64, error) {
	var n naps
	p := e.d.waits.take()
	if len(buf) > 0 {
		p.pin.Pin(&buf[0]) // as long as a part of it may be in flight
	}
	for {
		e.d.ring()
		var err error
		switch r.status {
		case again:
			if err = n.nap(e.d, pe); err == nil {
				r = step(r.value, r.wait)
				continue
			}
		case pending:
			p.word, p.cond = r.wait.left(), noneLeft
			if err = e.d.await(p); err == nil {
				r = e.s.finish(r.wait)
				continue
			}
		case done:
		default:
			err = e.failure(r)
			r.wait = waiter{}
		}
		if r.wait.c != nil && !noneLeft.Holds(r.wait.left().load(4)) {
			e.d.lose(p, e)
		} else {
			p.pin.Unpin()
			e.d.waits.put(p)
		}
		if err != nil {
			return 0, e.d.failed(op, pe, err)
		}
		return r.value, nil
	}
}

// noneLeft: what was awaited has completed.
var noneLeft = fabric.Cond{Type: fabric.Uint32, Cmp: fabric.CmpEQ, Value: 0}

// failure returns the error of a failed result.
func (e *Endpoint) failure(r result) error {
	if r.wait.c == nil {
		return errorOf(r.status)
	}
	f := r.wait.failure()
	e.s.release(r.wait)
	return f
}

// lose keeps what p pins, and the endpoint, until the domain is closed.
func (d *Domain) lose(p *parked, e *Endpoint) {
	p.owner = e
	d.mu.Lock()
	d.lost = append(d.lost, p)
	d.mu.Unlock()
}

// naps are the pauses of an operation that the provider has no room for. They
// get longer.
type naps struct {
	count int
	begin time.Time
}

// nap waits a little. It returns an error if the job is ending, or if PE pe, unless
// that is negative, has not answered for so long that it cannot be reached.
func (n *naps) nap(d *Domain, pe int) error {
	if n.begin.IsZero() {
		n.begin = time.Now()
	}
	if err := d.ended(); err != nil {
		return err
	}
	limit := cmp.Or(d.o.ConnectTimeout, defaultConnectTimeout)
	if pe >= 0 && !d.shim.heard(pe) && time.Since(n.begin) > limit {
		return d.unreachable(pe, limit)
	}
	n.count++
	if n.count < 4 {
		runtime.Gosched()
		return nil
	}
	d.sleepers.Add(1) // so that the thread polls
	d.Handback()
	defer d.sleepers.Add(^uint32(0))
	time.Sleep(min(time.Duration(n.count)*20*time.Microsecond, time.Millisecond))
	return nil
}

const defaultConnectTimeout = 10 * time.Second

// unreachable says that nothing was ever heard of PE pe.
func (d *Domain) unreachable(pe int, limit time.Duration) error {
	return fmt.Errorf("no answer within %v, %s", limit, d.way(pe))
}

// Fence implements [fabric.Endpoint]. Providers order neither puts against atomics
// nor messages of different sizes, so it waits as Quiet does.
func (e *Endpoint) Fence() error { return e.settle(false) }

// Quiet implements [fabric.Endpoint].
func (e *Endpoint) Quiet() error { return e.settle(true) }

// settle waits for what was posted before. take says whether it returns a failure
// that was kept.
func (e *Endpoint) settle(take bool) error {
	if err := e.usable(); err != nil {
		return err
	}
	if err := e.flush(); err != nil {
		return err
	}
	if e.d.readBack {
		return e.settleBack(take)
	}
	return e.settleCounted(take)
}

// settleCounted waits for the completions.
func (e *Endpoint) settleCounted(take bool) error {
	pinned := e.pins.any.Load()
	if pinned {
		e.pins.mu.Lock()
		e.turn()
		e.pins.mu.Unlock()
	}
	err := e.d.ended()
	if e.s.inflight().Load() != 0 || take && e.s.failed().Load() != 0 {
		err = e.drain(take)
	}
	if pinned {
		e.pins.mu.Lock()
		e.unpin(false)
		e.pins.mu.Unlock()
	}
	e.d.ring()
	return err
}

// drain waits for the epoch and those before it.
func (e *Endpoint) drain(take bool) error {
	r := e.s.quiet(take)
	e.turns.call()
	var n naps
	for {
		e.d.ring()
		switch r.status {
		case done:
			return nil
		case again:
			if err := n.nap(e.d, -1); err != nil {
				return err
			}
			r = e.s.quiet(take)
		case pending:
			p := e.d.waits.take()
			p.word, p.cond = e.s.oldest(), fabric.Cond{Type: fabric.Uint64, Cmp: fabric.CmpGT, Value: r.value}
			if err := e.d.await(p); err != nil {
				return err
			}
			e.d.waits.put(p)
			r = e.s.quieted(r.value, take)
		default:
			return e.d.failed("operation", -1, e.failure(r))
		}
	}
}

// Progress implements [fabric.Endpoint].
func (e *Endpoint) Progress() error {
	if err := e.usable(); err != nil {
		return err
	}
	e.d.Progress()
	return e.d.ended()
}

// Close implements [fabric.Endpoint].
func (e *Endpoint) Close() error {
	if e.closed.Load() {
		return nil
	}
	e.batch.open.Store(false)
	err := e.Quiet()
	e.closed.Store(true)
	if e.endBatch(); e.s.inflight().Load() == 0 {
		e.d.mu.Lock()
		delete(e.d.endpoints, e)
		e.d.mu.Unlock()
	}
	return err
}
