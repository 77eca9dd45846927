// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// An endpoint implements [fabric.Endpoint] and every optional capability but
// the strided and vectored ones.
type endpoint struct {
	d      *domain
	w      *World
	number int // among the PE's endpoints

	quieted race.Token // from deliveries to Quiet

	mu      race.Mutex
	issued  uint64 // operations so far
	closed  bool
	failure error     // of an operation that had returned, for the next Quiet
	epoch   *gate     // what was issued since the last Quiet
	streams []*stream // one for each PE that was a target, by PE
	flying  instants  // when what is posted is due

	batching bool         // a batch is open
	batch    []*operation // collected
}

var errClosed = errors.New("fabric/loop: the endpoint is closed")

func newEndpoint(d *domain, number int) *endpoint {
	return &endpoint{d: d, w: d.w, number: number, epoch: newGate()}
}

// Put implements [fabric.Endpoint].
func (e *endpoint) Put(pe int, dst fabric.Addr, src []byte) error {
	return e.PutNBI(pe, dst, bytes.Clone(src))
}

// PutNBI implements [fabric.NBIPutter].
func (e *endpoint) PutNBI(pe int, dst fabric.Addr, src []byte) error {
	if len(src) == 0 {
		return e.usable()
	}
	_, err := e.issue(&operation{kind: Put, target: pe, off: dst, size: len(src), data: src})
	return err
}

// Get implements [fabric.Endpoint].
func (e *endpoint) Get(pe int, dst []byte, src fabric.Addr) error {
	if len(dst) == 0 {
		return e.usable()
	}
	// dst may be on the caller's stack: the NIC gets a buffer of its own.
	buf := make([]byte, len(dst))
	delivered, err := e.complete(&operation{kind: Get, target: pe, off: src, size: len(buf), data: buf})
	if delivered {
		copy(dst, buf)
	}
	return err
}

// GetNBI implements [fabric.NBIGetter].
func (e *endpoint) GetNBI(pe int, dst []byte, src fabric.Addr) error {
	if len(dst) == 0 {
		return e.usable()
	}
	_, err := e.issue(&operation{kind: Get, target: pe, off: src, size: len(dst), data: dst})
	return err
}

// PutWord implements [fabric.Endpoint].
func (e *endpoint) PutWord(pe int, dst fabric.Addr, size uint8, v uint64) error {
	if size != 1 && size != 2 && size != 4 && size != 8 {
		return fmt.Errorf("fabric/loop: put of a word of %d bytes", size)
	}
	_, err := e.issue(&operation{kind: Word, target: pe, off: dst, size: int(size), v: v})
	return err
}

// PutWords implements [fabric.WordsPutter]: one operation, of whose words each is
// delivered by itself.
func (e *endpoint) PutWords(pe int, dst fabric.Addr, words []uint64) error {
	if len(words) == 0 {
		return e.usable()
	}
	_, err := e.issue(&operation{kind: Word, target: pe, off: dst, size: 8 * len(words), words: words})
	return err
}

// Notify implements [fabric.Notifier].
func (e *endpoint) Notify(pe int, dst fabric.Addr, words []uint64) error {
	_, err := e.issue(&operation{kind: Note, target: pe, off: dst, size: 8 * len(words), words: slices.Clone(words)})
	return err
}

// Atomic implements [fabric.Endpoint].
func (e *endpoint) Atomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v uint64) error {
	if op.Compares() || op == fabric.OpRead || !fabric.Applies(op, dt) {
		return fmt.Errorf("fabric/loop: there is no atomic %v on %v", op, dt)
	}
	_, err := e.issue(&operation{kind: Atomic, target: pe, off: dst, size: int(dt.Size()), op: op, dt: dt, v: v})
	return err
}

// FetchAtomic implements [fabric.Endpoint].
func (e *endpoint) FetchAtomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64) (uint64, error) {
	if !fabric.Applies(op, dt) {
		return 0, fmt.Errorf("fabric/loop: there is no fetching atomic %v on %v", op, dt)
	}
	o := &operation{kind: Fetch, target: pe, off: dst, size: int(dt.Size()), op: op, dt: dt, v: v, cmp: cmp}
	delivered, err := e.complete(o)
	if !delivered {
		return 0, err
	}
	return o.old, err
}

// FetchAtomicNBI implements [fabric.NBIFetcher].
func (e *endpoint) FetchAtomicNBI(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64, result []byte) error {
	if !fabric.Applies(op, dt) || len(result) != int(dt.Size()) {
		return fmt.Errorf("fabric/loop: there is no fetching atomic %v on %v with a result of %d bytes", op, dt, len(result))
	}
	_, err := e.issue(&operation{kind: Fetch, target: pe, off: dst, size: len(result), op: op, dt: dt, v: v, cmp: cmp, data: result})
	return err
}

// PutSignal implements [fabric.SignalPutter].
func (e *endpoint) PutSignal(pe int, dst fabric.Addr, src []byte, signal fabric.Addr, op fabric.Op, v uint64) error {
	if op != fabric.OpWrite && op != fabric.OpSum {
		return fmt.Errorf("fabric/loop: a signal can't be updated by %v", op)
	}
	if err := e.d.flushAll(); err != nil {
		return err
	}
	sig := &operation{kind: Signal, target: pe, off: signal, size: 8, op: op, dt: fabric.Uint64, v: v}
	if len(src) == 0 {
		_, err := e.issue(sig)
		return err
	}
	first := &operation{kind: Put, target: pe, off: dst, size: len(src), data: bytes.Clone(src)}
	second := sig
	if e.w.o.Faults.SignalFirst {
		first, second = second, first
	}
	first.done = newGate()
	fate, err := e.issue(first)
	if err != nil || fate == failed {
		return err
	}
	if fate == posted {
		second.after = first.done
	}
	_, err = e.issue(second)
	return err
}

// Fence implements [fabric.Endpoint].
func (e *endpoint) Fence() error {
	if err := e.usable(); err != nil {
		return err
	}
	if e.w.o.Faults.IgnoreFence {
		return nil
	}
	if err := e.flush(); err != nil {
		return err
	}
	e.fence()
	return nil
}

// Quiet implements [fabric.Endpoint].
func (e *endpoint) Quiet() error {
	if err := e.usable(); err != nil {
		return err
	}
	return e.quiet()
}

func (e *endpoint) quiet() error {
	if e.w.o.Faults.IgnoreQuiet {
		return nil
	}
	if err := e.flush(); err != nil {
		return err
	}
	if g := e.seal(); g != nil && !e.w.await(g) {
		return e.w.ended()
	}
	e.quieted.Acquire()
	return e.takeFailure()
}

// QuietPEs implements [fabric.PEQuieter].
func (e *endpoint) QuietPEs(pes []int) error {
	if err := e.usable(); err != nil || e.w.o.Faults.IgnoreQuiet {
		return err
	}
	if err := e.flush(); err != nil {
		return err
	}
	gates := make([]*gate, len(pes)) // all sealed now, so that none waits for what comes later
	for i, pe := range pes {
		gates[i] = e.sealTarget(pe)
	}
	for _, g := range gates {
		if g != nil && !e.w.await(g) {
			return e.w.ended()
		}
	}
	e.quieted.Acquire()
	return e.takeFailure()
}

// patience is how many passes of progress the longest delay takes.
const patience = 64

// Progress implements [fabric.Endpoint]. Where delays pass, a pass takes time: in a
// testing/synctest bubble it stands still while somebody polls.
func (e *endpoint) Progress() error {
	if e.w.o.MaxDelay > 0 {
		time.Sleep(e.w.o.MaxDelay/patience + 1)
	} else {
		runtime.Gosched()
	}
	return e.usable()
}

// Close implements [fabric.Endpoint].
func (e *endpoint) Close() error {
	if !e.shut() {
		return nil
	}
	e.d.count(-1)
	e.d.endBatching(e)
	if err := e.w.ended(); err != nil {
		return err
	}
	return e.quiet()
}

// usable returns an error if e is closed or the world aborted.
func (e *endpoint) usable() error {
	if e.isClosed() {
		return errClosed
	}
	return e.w.ended()
}

//go:norace
func (e *endpoint) isClosed() bool {
	e.mu.Lock()
	closed := e.closed
	e.mu.Unlock()
	return closed
}

// shut closes e and reports whether it was open.
//
//go:norace
func (e *endpoint) shut() bool {
	e.mu.Lock()
	open := !e.closed
	e.closed = true
	e.mu.Unlock()
	return open
}

// keep keeps err for the next Quiet.
func (e *endpoint) keep(err error) {
	e.quieted.Release()
	e.setFailure(err)
}

//go:norace
func (e *endpoint) setFailure(err error) {
	e.mu.Lock()
	if e.failure == nil {
		e.failure = err
	}
	e.mu.Unlock()
}

//go:norace
func (e *endpoint) takeFailure() error {
	e.mu.Lock()
	err := e.failure
	e.failure = nil
	e.mu.Unlock()
	return err
}
