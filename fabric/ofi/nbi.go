// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/goshmem/goshmem/fabric"
)

// PutNBI implements [fabric.NBIPutter]. A put that fits a bounce buffer is copied
// at once, a longer one goes out from src. A small one goes out with others as a batch while the
// endpoint is flooded: nobody is promised anything of it before the next Quiet.
func (e *Endpoint) PutNBI(pe int, dst fabric.Addr, src []byte) error {
	if len(src) <= maxSmall && len(src) > 0 && e.floods() {
		if taken, err := e.collectPut(pe, dst, src); taken || err != nil {
			return err
		}
	}
	if len(src) <= bounceSize {
		return e.put(pe, dst, src, putCopy)
	}
	t, err := e.target("put", pe, dst, len(src))
	if err != nil {
		return err
	}
	defer e.wrote(pe)
	return e.count("put", pe, src, func(from uint64) result { return e.s.put(t, src, from, putKeep, waiter{}) })
}

// GetNBI implements [fabric.NBIGetter].
func (e *Endpoint) GetNBI(pe int, dst []byte, src fabric.Addr) error {
	if len(dst) == 0 {
		return e.usable()
	}
	t, err := e.target("get", pe, src, len(dst))
	if err != nil {
		return err
	}
	return e.count("get", pe, dst, func(from uint64) result { return e.s.get(t, dst, from, true, waiter{}) })
}

// FetchAtomicNBI implements [fabric.NBIFetcher].
func (e *Endpoint) FetchAtomicNBI(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64, res []byte) error {
	if !fabric.Applies(op, dt) || len(res) != int(dt.Size()) {
		return fmt.Errorf("fabric/ofi: there is no fetching atomic %v on %v with a result of %d bytes", op, dt, len(res))
	}
	ty := asBits(op, dt)
	if mayMeetNaN(op, dt) || !e.d.native.fetching(op).Has(op, ty) {
		old, err := e.FetchAtomic(pe, op, dt, dst, v, cmp)
		if err != nil {
			return err
		}
		fabric.PutBits(res, old)
		return nil
	}
	t, err := e.target(op.String(), pe, dst, len(res))
	if err != nil {
		return err
	}
	defer e.wrote(pe)
	return e.count(op.String(), pe, res, func(uint64) result {
		return e.s.fetchCounted(t, fiOps[op], int(ty), op.Compares(), v, cmp, res)
	})
}

// pins keep the memory of counted operations in its place until they are complete.
// A set is closed together with the epoch in which its operations are counted.
type pins struct {
	any atomic.Bool // something is pinned

	mu      sync.Mutex // held from pinning to posting, so that both go by the same epoch
	open    *pinSet
	retired []retired
	spare   *pinSet
}

type pinSet struct {
	pinner runtime.Pinner
	size   int
}

// retired is a set that can be unpinned when the epochs up to its own are complete.
type retired struct {
	set   *pinSet
	epoch uint64
}

// pinLimit is how many pins a set collects before it is closed without a Quiet.
const pinLimit = 1024

// count posts a counted operation that uses buf until it is complete.
func (e *Endpoint) count(op string, pe int, buf []byte, step func(from uint64) result) error {
	p := &e.pins
	var n naps
	from, pinned := uint64(0), (*pinSet)(nil)
	for {
		p.mu.Lock()
		if p.open == nil {
			p.begin()
		}
		if pinned != p.open {
			pinned = p.open
			pinned.pinner.Pin(&buf[0])
			pinned.size++
			p.any.Store(true)
		}
		r := step(from)
		if pinned.size >= pinLimit {
			e.turn()
		}
		p.mu.Unlock()
		e.turns.call()
		e.d.ring()
		switch r.status {
		case done:
			return nil
		case again:
			from = r.value
			if err := n.nap(e.d, pe); err != nil {
				return fmt.Errorf("fabric/ofi: %s to PE %d: %w", op, pe, err)
			}
		default:
			return e.d.failed(op, pe, e.failure(r))
		}
	}
}

// begin opens a set. The caller holds mu.
func (p *pins) begin() {
	p.open, p.spare = p.spare, nil
	if p.open == nil {
		p.open = new(pinSet)
	}
}

// turn closes the epoch and the set of pins with it, polls a little, and unpins what
// is complete. The caller holds pins.mu.
func (e *Endpoint) turn() {
	p := &e.pins
	r := e.s.quiet(false)
	if p.open != nil && r.status != again {
		p.retired = append(p.retired, retired{p.open, r.value})
		p.open = nil
	}
	e.unpin(r.status == done)
}

// unpin lets go of the sets whose operations are complete; all says that those of
// everything retired are. The caller holds pins.mu.
func (e *Endpoint) unpin(all bool) {
	p := &e.pins
	oldest := e.s.oldest().load(8)
	keep := p.retired[:0]
	for _, x := range p.retired {
		if !all && oldest <= x.epoch {
			keep = append(keep, x)
			continue
		}
		x.set.pinner.Unpin()
		x.set.size = 0
		p.spare = x.set
	}
	clear(p.retired[len(keep):])
	p.retired = keep
	p.any.Store(len(p.retired) > 0 || p.open != nil)
}
