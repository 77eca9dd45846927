// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goshmem/goshmem/fabric"
)

// batch is what an endpoint collects. Small puts and atomics become records in a box for
// their PE, in C memory: no call into C until it is full or flushed.
type batch struct {
	open  atomic.Bool
	ready atomic.Bool // what follows can be used

	// Boxes, by PE as package-internal peers are kept: made at first use, there until
	// the endpoint is closed.
	chunks []atomic.Pointer[boxes] // read-only once ready
	all    atomic.Pointer[[]*box]  // of them; replaced as a whole

	mu sync.Mutex // for changes
}

type boxes [chunkSize]atomic.Pointer[box]

// Batch implements [fabric.Batcher]. Where the provider has no messages, it does nothing.
func (e *Endpoint) Batch(open bool) error {
	if err := e.usable(); err != nil {
		return err
	}
	if !e.d.messages {
		return nil
	}
	if !open {
		e.batch.open.Store(false)
		return e.flush()
	}
	if err := e.prepareBatch(); err != nil {
		return err
	}
	e.batch.open.Store(true)
	return nil
}

// prepareBatch makes what collecting needs.
func (e *Endpoint) prepareBatch() error {
	if err := e.d.flusher(); err != nil {
		return fmt.Errorf("fabric/ofi: start the thread that sends batches: %w", err)
	}
	t := &e.batch
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ready.Load() {
		t.chunks = make([]atomic.Pointer[boxes], len(e.d.peers.chunks))
		t.ready.Store(true)
	}
	return nil
}

// floods reports whether so much is in flight that a small put is better collected than posted. Where the target's
// processor carries out one as the other, posts by themselves cost both sides more, and are no sooner
// there: each waits behind those before it.
func (e *Endpoint) floods() bool {
	return e.s.inflight().Load() >= e.d.flood && (e.batch.ready.Load() || e.prepareBatch() == nil)
}

// collectPut takes a put into the box of PE pe, unless that has none, or the range is
// outside its segment.
func (e *Endpoint) collectPut(pe int, dst fabric.Addr, src []byte) (bool, error) {
	b, err := e.boxOf(pe)
	if err != nil || b == nil || !b.holds(dst, len(src)) {
		return false, err
	}
	size := (len(src) + 7) &^ 7
	if taken, err := e.room(b, 8+size); !taken {
		return false, err
	}
	b.add(uint64(dst)<<16|uint64(len(src)), src)
	return true, e.collected(b)
}

// collectAtomic does so with an atomic operation. A word that is not aligned is left to the
// provider.
func (e *Endpoint) collectAtomic(pe int, op fabric.Op, ty fabric.Datatype, dst fabric.Addr, v uint64) (bool, error) {
	b, err := e.boxOf(pe)
	size := int(ty.Size())
	if err != nil || b == nil || !b.holds(dst, size) || dst&fabric.Addr(size-1) != 0 {
		return false, err
	}
	if taken, err := e.room(b, 16); !taken {
		return false, err
	}
	b.addWord(uint64(dst)<<16|recordAtomic|uint64(fiOps[op])<<4|uint64(ty), v)
	return true, e.collected(b)
}

// recordAtomic marks the records of atomics; see shim_letter.c.
const recordAtomic = 1 << 15

// boxOf returns the box of PE pe, or nil if there can be none.
func (e *Endpoint) boxOf(pe int) (*box, error) {
	if uint(pe) >= uint(e.d.job.NPEs) || e.closed.Load() {
		return nil, nil // which is said elsewhere
	}
	if c := e.batch.chunks[pe/chunkSize].Load(); c != nil {
		if b := c[pe%chunkSize].Load(); b != nil {
			return b, nil
		}
	}
	return e.newBox(pe)
}

func (e *Endpoint) newBox(pe int) (*box, error) {
	p, err := e.d.peer("put", pe)
	if err != nil || p.token == 0 || p.segment.size > maxOffset {
		return nil, err
	}
	t := &e.batch
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.chunks[pe/chunkSize].Load()
	if c == nil {
		c = new(boxes)
		t.chunks[pe/chunkSize].Store(c)
	}
	b := c[pe%chunkSize].Load()
	if b != nil {
		return b, nil
	}
	if b, err = e.s.box(p.addr, p.token, p.control.target(p.addr, pe, 8)); err != nil {
		return nil, fmt.Errorf("fabric/ofi: batch for PE %d: %w", pe, err)
	}
	b.pe, b.size, b.capacity = pe, p.segment.size, e.d.shim.capacity()
	var all []*box
	if old := t.all.Load(); old != nil {
		all = slices.Clone(*old)
	}
	all = append(all, b)
	t.all.Store(&all)
	c[pe%chunkSize].Store(b)
	return b, nil
}

// maxOffset is the size of the largest segment whose offsets a record has bits for.
const maxOffset = 1 << 48

// A box is what is collected for one PE.
type box struct {
	cbox
	pe       int
	size     uint64 // bytes of its segment
	capacity int    // bytes of records
	shut     bool   // under the lock
}

// holds reports whether a range lies in the PE's segment.
func (b *box) holds(off fabric.Addr, size int) bool {
	return uint64(off) <= b.size && uint64(size) <= b.size-uint64(off)
}

// room takes the box's lock and reports true once it has room for n more bytes. Otherwise it does not
// have the lock, and the operation is to be posted by itself.
func (e *Endpoint) room(b *box, n int) (bool, error) {
	b.lock()
	if b.fits(n) && !b.shut {
		return true, nil
	}
	return e.makeRoom(b, n)
}

//go:noinline
func (e *Endpoint) makeRoom(b *box, n int) (bool, error) {
	var pauses naps
	for {
		if b.shut {
			b.unlock()
			return false, errClosed
		}
		if b.fits(n) {
			return true, nil
		}
		status := b.send()
		if status == done {
			status = b.begin()
		}
		e.turns.call()
		if status == done {
			continue
		}
		b.unlock()
		e.d.ring()
		switch status {
		case again:
			if !b.wait() {
				if err := pauses.nap(e.d, b.pe); err != nil {
					return false, e.d.failed("batch", b.pe, err)
				}
			}
		case noBuffer:
			return false, nil
		default:
			return false, e.d.failed("batch", b.pe, errorOf(status))
		}
		b.lock()
	}
}

// collected ends what room began, when the record is there. The first one after a pause is
// sent at once: the flusher, which sleeps, would come late for it.
func (e *Endpoint) collected(b *box) error {
	alone := b.link() && e.d.shim.push(b.cbox)
	status := int64(done)
	if alone {
		status = b.send()
	}
	b.unlock()
	if alone {
		e.d.shim.wakeFlusher()
	}
	if status != done {
		return e.d.failed("batch", b.pe, errorOf(status))
	}
	return nil
}

// flush sends what the endpoint has collected: it is counted then.
func (e *Endpoint) flush() error {
	all := e.batch.all.Load()
	if all == nil {
		return nil
	}
	for _, b := range *all {
		if !b.linked() {
			continue
		}
		b.lock()
		status := b.send()
		b.unlock()
		if status != done {
			return e.d.failed("batch", b.pe, errorOf(status))
		}
	}
	return nil
}

// flushDirty sends what the endpoints have collected, but for boxes that somebody adds to at
// the moment: it is called before somebody waits for what another PE may do when it comes.
func (d *Domain) flushDirty() {
	if d.shim.dirty() {
		d.shim.flush()
	}
}

// endBatch shuts the boxes of a closed endpoint. They are empty, unless the job has ended.
func (e *Endpoint) endBatch() {
	all := e.batch.all.Load()
	if all == nil {
		return
	}
	for _, b := range *all {
		b.lock()
		b.shut = true
		b.unlock()
	}
	if e.flush() == nil {
		e.s.endBoxes()
	}
}
