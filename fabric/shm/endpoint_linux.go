// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"fmt"
	"runtime"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// An Endpoint copies. Callers that may store directly do; this one serves
// race builds, which need its notes, and tests that force every transfer
// through an endpoint.
type Endpoint struct {
	d     *Domain
	_     [64]byte
	fence uint32
	_     [60]byte
}

func (e *Endpoint) near(pe int, op string) error {
	if i := pe - e.d.layout.First; i < 0 || i >= e.d.layout.PEs {
		return fmt.Errorf("fabric/shm: %s: PE %d is not on this node (PEs %d to %d are)", op, pe, e.d.layout.First, e.d.layout.First+e.d.layout.PEs-1)
	}
	return nil
}

// Put implements [fabric.Endpoint].
func (e *Endpoint) Put(pe int, dst fabric.Addr, src []byte) error {
	if err := e.near(pe, "put"); err != nil {
		return err
	}
	copy(e.d.Map(pe)[dst:], src)
	return nil
}

// Get implements [fabric.Endpoint].
func (e *Endpoint) Get(pe int, dst []byte, src fabric.Addr) error {
	if err := e.near(pe, "get"); err != nil {
		return err
	}
	copy(dst, e.d.Map(pe)[src:])
	return nil
}

// PutWord implements [fabric.Endpoint].
func (e *Endpoint) PutWord(pe int, dst fabric.Addr, size uint8, v uint64) error {
	if err := e.near(pe, "put"); err != nil {
		return err
	}
	e.noteRelease(dst)
	storeWord(e.d.word(pe, dst), size, v)
	e.d.Wake(pe)
	return nil
}

// Atomic implements [fabric.Endpoint].
func (e *Endpoint) Atomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v uint64) error {
	_, err := e.FetchAtomic(pe, op, dt, dst, v, 0)
	return err
}

// FetchAtomic implements [fabric.Endpoint]: a compare-and-swap loop for every
// operation alike. Direct callers have the single instructions.
func (e *Endpoint) FetchAtomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64) (uint64, error) {
	if err := e.near(pe, op.String()); err != nil {
		return 0, err
	}
	if !fabric.Applies(op, dt) {
		return 0, fmt.Errorf("fabric/shm: no atomic %v on %v", op, dt)
	}
	e.noteRelease(dst)
	defer e.d.noteAcquire(dst)
	p, size := e.d.word(pe, dst), dt.Size()
	for {
		old := loadWord(p, size)
		next := fabric.Apply(op, dt, old, v, cmp)
		if casWord(p, size, old, next) {
			if next != old {
				e.d.Wake(pe)
			}
			return old, nil
		}
	}
}

// Fence implements [fabric.Endpoint].
func (e *Endpoint) Fence() error { return e.Quiet() }

// Quiet implements [fabric.Endpoint]: copies are complete when they return,
// so it only has to order them and to wake who sleeps for them.
func (e *Endpoint) Quiet() error {
	fullFence(&e.fence)
	e.d.Wake(-1)
	return e.d.aborted()
}

// Progress implements [fabric.Endpoint]. There is nothing to move; but who
// polls while PEs outnumber cores keeps one from the PE that it polls for.
func (e *Endpoint) Progress() error {
	if e.d.policy.crowded {
		e.d.giveWay()
		runtime.Gosched()
	}
	return e.d.aborted()
}

// Close implements [fabric.Endpoint].
func (e *Endpoint) Close() error { return e.Quiet() }

// noteRelease tells the race detector that what precedes is visible to who
// sees the update of the word at off that follows.
func (e *Endpoint) noteRelease(off fabric.Addr) {
	if race.Enabled {
		e.d.tokens.Release(off)
	}
}
