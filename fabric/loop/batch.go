// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"time"

	"github.com/goshmem/goshmem/internal/race"
)

// What an endpoint collects while a batch is open, as a network would that has room in
// one message for many small operations: a flush that is missing has to show.
const (
	batchSize   = 512                   // bytes of an operation, at most
	batchLength = 64                    // operations that go together, at most
	batchLinger = 50 * time.Microsecond // until they leave by themselves
)

// Batch implements [fabric.Batcher].
func (e *endpoint) Batch(open bool) error {
	if err := e.usable(); err != nil {
		return err
	}
	e.setBatching(open)
	switch {
	case open:
		e.d.addBatching(e)
	case !e.w.o.Faults.KeepBatches:
		return e.flush()
	}
	return nil
}

//go:norace
func (e *endpoint) setBatching(open bool) {
	e.mu.Lock()
	e.batching = open
	e.mu.Unlock()
}

// collect takes o in place of a NIC, and reports whether it did, whether o is the first to
// be collected, and whether as many are there as go together.
func (e *endpoint) collect(o *operation) (taken, first, full bool) {
	if !e.isBatching() || o.size > batchSize || o.done != nil || o.after != nil {
		return false, false, false
	}
	if o.kind != Put && o.kind != Word && o.kind != Atomic {
		return false, false, false
	}
	o.collected.Release()
	return e.take(o)
}

//go:norace
func (e *endpoint) isBatching() bool {
	e.mu.Lock()
	batching := e.batching
	e.mu.Unlock()
	return batching
}

//go:norace
func (e *endpoint) take(o *operation) (taken, first, full bool) {
	e.mu.Lock()
	if e.batching && !e.closed {
		race.Disable()
		e.joinGates(o)
		race.Enable()
		e.batch = append(e.batch, o)
		taken, first, full = true, len(e.batch) == 1, len(e.batch) == batchLength
	}
	e.mu.Unlock()
	return taken, first, full
}

// linger sends what is collected some time after the first of it. It counts as a NIC.
func (e *endpoint) linger() {
	defer e.w.endNIC()
	race.Disable()
	time.Sleep(batchLinger)
	race.Enable()
	_ = e.flush() // which fails only if the job is ending
}

// flush gives what the endpoint has collected to NICs. The caller may be a goroutine that has never
// heard of whoever made the endpoint.
//
//go:norace
func (e *endpoint) flush() error {
	for _, o := range e.takeBatch() {
		if !e.w.startNIC() {
			return e.w.ended()
		}
		e.scheduleLate(o)
		go e.deliver(o)
	}
	return nil
}

//go:norace
func (e *endpoint) takeBatch() []*operation {
	e.mu.Lock()
	batch := e.batch
	e.batch = nil
	e.mu.Unlock()
	return batch
}

//go:norace
func (e *endpoint) scheduleLate(o *operation) {
	e.mu.Lock()
	race.Disable()
	e.schedule(o, o.piece)
	race.Enable()
	e.mu.Unlock()
}

// addBatching notes that e collects.
//
//go:norace
func (d *domain) addBatching(e *endpoint) {
	d.mu.Lock()
	known := false
	for i := range d.batching {
		known = known || d.batching[i] == e
	}
	if !known {
		d.batching = append(d.batching, e)
	}
	d.mu.Unlock()
}

// endBatching notes that e does not any more.
//
//go:norace
func (d *domain) endBatching(e *endpoint) {
	d.mu.Lock()
	var others []*endpoint
	for i := range d.batching {
		if d.batching[i] != e {
			others = append(others, d.batching[i])
		}
	}
	d.batching = others
	d.mu.Unlock()
}

// flushAll sends what the PE's endpoints have collected, since a goroutine of the PE is about
// to wait for what another PE may do when it comes.
func (d *domain) flushAll() error {
	if d.w.o.Faults.KeepBatches {
		return nil
	}
	for _, e := range d.allBatching() {
		if err := e.flush(); err != nil {
			return err
		}
	}
	return nil
}

//go:norace
func (d *domain) allBatching() []*endpoint {
	d.mu.Lock()
	all := d.batching // replaced or appended to, never changed
	d.mu.Unlock()
	return all
}
