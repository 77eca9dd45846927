// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"fmt"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// An operation is what an endpoint posts: all of a call, or a piece of a put.
type operation struct {
	// Set before issue.
	kind   Kind
	target int
	off    fabric.Addr
	size   int      // bytes at off
	data   []byte   // a put's source, a get's destination, a fetch's result or nil
	words  []uint64 // of a put of several
	op     fabric.Op
	dt     fabric.Datatype
	v, cmp uint64
	done   *gate // opens once delivered, or nil
	after  *gate // opens before delivery, or nil
	piece  int   // its number, of a put in pieces

	// Set by post; see order.go.
	issue  uint64
	held   bool  // by Faults
	fenced *gate // opens before delivery, or nil
	joined [4]*gate
	at     time.Duration // delivery is due then, counted from the world's beginning

	collected race.Token // from who issued it to the NIC, if it was collected

	// Set by the NIC before done opens.
	old uint64 // what a fetch found
}

// A fate is what became of an operation in issue.
type fate uint8

const (
	posted    fate = iota // a NIC has it
	delivered             // to a near PE
	lost                  // by Faults
	failed                // by Faults; kept for Quiet
)

// issue issues o. An error means that nothing was done.
func (e *endpoint) issue(o *operation) (fate, error) {
	if err := e.usable(); err != nil {
		return failed, err
	}
	s := e.w.segments[o.target]
	if size := fabric.Addr(len(s.mem)); o.off > size || fabric.Addr(o.size) > size-o.off {
		return failed, fmt.Errorf("fabric/loop: %v of %d bytes at offset %d of PE %d, whose segment has %d", o.kind, o.size, o.off, o.target, size)
	}
	o.issue = e.nextIssue()
	if drop, fail, hold := e.w.o.Faults.Drop, e.w.o.Faults.Fail, e.w.o.Faults.Hold; drop != nil || fail != nil || hold != nil {
		event := Event{Source: e.d.me, Target: o.target, Kind: o.kind, Op: o.op, Off: o.off, Size: o.size, Issue: o.issue}
		if drop != nil && drop(event) {
			return lost, nil
		}
		o.held = hold != nil && hold(event)
		if fail != nil {
			if err := fail(event); err != nil {
				return e.fail(o, err)
			}
		}
	}
	if e.w.near(e.d.me, o.target) && !(e.w.o.FabricAtomics && o.kind.atomic()) {
		s.carryOut(o)
		return delivered, nil
	}
	if tear := e.w.o.TearSize; tear > 0 && o.kind == Put {
		for i := 0; i < o.size; i += tear {
			piece := *o
			piece.off += fabric.Addr(i)
			piece.data = o.data[i:min(i+tear, o.size)]
			piece.size = len(piece.data)
			piece.piece = i
			if err := e.post(&piece); err != nil {
				return failed, err
			}
		}
	} else if o.words != nil && o.kind == Word {
		for i := range o.words {
			if err := e.post(o.word(i)); err != nil {
				return failed, err
			}
		}
	} else if err := e.post(o); err != nil {
		return failed, err
	}
	if o.done != nil {
		e.leave(o.done)
	}
	return posted, nil
}

// fail returns err from an operation that its caller waits for, and keeps that
// of any other.
func (e *endpoint) fail(o *operation, err error) (fate, error) {
	err = fmt.Errorf("fabric/loop: %v of %d bytes at offset %d of PE %d: %w", o.kind, o.size, o.off, o.target, err)
	if o.done != nil && (o.kind == Get || o.kind == Fetch) {
		return failed, err
	}
	e.keep(err)
	return failed, nil
}

// complete issues o, waits until it is delivered, and reports whether it was.
func (e *endpoint) complete(o *operation) (bool, error) {
	if err := e.d.flushAll(); err != nil {
		return false, err
	}
	o.done = newGate()
	f, err := e.issue(o)
	if err != nil || f != posted {
		return f == delivered, err
	}
	if !e.w.await(o.done) {
		return false, e.w.ended()
	}
	return true, nil
}

// post starts a NIC goroutine for o, unless o is collected. There is one for each operation: in one
// that served several, its own program order would stand in for a missing Fence.
func (e *endpoint) post(o *operation) error {
	if taken, first, full := e.collect(o); taken {
		switch {
		case full:
			return e.flush()
		case first && !e.w.o.Faults.HoldBatches && !e.w.o.Faults.KeepBatches:
			if !e.w.startNIC() {
				return e.w.ended()
			}
			go e.linger()
		}
		return nil
	}
	if !e.w.startNIC() {
		return e.w.ended()
	}
	e.enter(o)
	go e.deliver(o)
	return nil
}

// deliver is the NIC goroutine.
func (e *endpoint) deliver(o *operation) {
	o.collected.Acquire() // before anything else: who sent it may know nothing of e
	defer e.w.endNIC()
	if !e.due(o) {
		return // without opening a gate: who waits there must not take o for delivered
	}
	for _, g := range [...]*gate{o.fenced, o.after} {
		if g != nil {
			g.token.Acquire()
		}
	}
	e.w.segments[o.target].carryOut(o)
	for _, g := range o.joined {
		if g != nil {
			g.token.Release()
		}
	}
	e.quieted.Release()
	e.exit(o)
}

// word returns the put of word i of several.
func (o *operation) word(i int) *operation {
	w := *o
	w.off += fabric.Addr(8 * i)
	w.size, w.v, w.words, w.piece = 8, o.words[i], nil, i
	return &w
}

// carryOut has o's effect on s.
func (s *segment) carryOut(o *operation) {
	switch o.kind {
	case Put:
		s.put(o.off, o.data)
	case Get:
		s.get(o.data, o.off)
	case Word:
		for i := range o.words {
			s.carryOut(o.word(i))
		}
		if o.words != nil {
			break
		}
		s.store(o.off, uint8(o.size), o.v)
	case Note:
		for i, v := range o.words {
			s.store(o.off+8*fabric.Addr(i), 8, v)
		}
	case Atomic, Signal:
		s.update(o.op, o.dt, o.off, o.v)
	case Fetch:
		o.old = s.apply(o.op, o.dt, o.off, o.v, o.cmp)
		if o.data != nil {
			// One copy: of eight stores of a byte each the race detector, which
			// remembers four accesses to a word, could lose the one that matters.
			var b [8]byte
			fabric.PutBits(b[:o.size], o.old)
			copy(o.data, b[:o.size])
		}
	}
}
