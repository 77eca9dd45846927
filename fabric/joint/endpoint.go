// SPDX-License-Identifier: BSD-3-Clause

package joint

import (
	"errors"

	"github.com/goshmem/goshmem/fabric"
)

// An Endpoint is one near and one far, with the optional capabilities of both.
// Methods do what package fabric says of them.
type Endpoint struct {
	d         *Domain
	near, far *fabric.Extended
}

// data returns the endpoint that moves data to and from PE pe.
func (e *Endpoint) data(pe int) *fabric.Extended {
	if e.d.isNear(pe) {
		return e.near
	}
	return e.far
}

// atomics returns the endpoint that executes atomics on PE pe.
func (e *Endpoint) atomics(pe int) *fabric.Extended {
	if !e.d.farAtomics && e.d.isNear(pe) {
		return e.near
	}
	return e.far
}

// Put implements [fabric.Endpoint].
func (e *Endpoint) Put(pe int, dst fabric.Addr, src []byte) error {
	return e.data(pe).Put(pe, dst, src)
}

// Get implements [fabric.Endpoint].
func (e *Endpoint) Get(pe int, dst []byte, src fabric.Addr) error {
	return e.data(pe).Get(pe, dst, src)
}

// PutWord implements [fabric.Endpoint].
func (e *Endpoint) PutWord(pe int, dst fabric.Addr, size uint8, v uint64) error {
	return e.data(pe).PutWord(pe, dst, size, v)
}

// Atomic implements [fabric.Endpoint].
func (e *Endpoint) Atomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v uint64) error {
	return e.atomics(pe).Atomic(pe, op, dt, dst, v)
}

// FetchAtomic implements [fabric.Endpoint].
func (e *Endpoint) FetchAtomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64) (uint64, error) {
	return e.atomics(pe).FetchAtomic(pe, op, dt, dst, v, cmp)
}

// Fence implements [fabric.Endpoint]. Where atomics to near PEs go through the network,
// those must be complete before a later store to such a PE can overtake them.
func (e *Endpoint) Fence() error {
	if err := e.near.Fence(); err != nil {
		return err
	}
	if e.d.farAtomics && !e.d.o.AllFar {
		return e.far.Quiet()
	}
	return e.far.Fence()
}

// Quiet implements [fabric.Endpoint].
func (e *Endpoint) Quiet() error {
	if err := e.near.Quiet(); err != nil {
		return err
	}
	return e.far.Quiet()
}

// Progress implements [fabric.Endpoint].
func (e *Endpoint) Progress() error {
	if err := e.far.Progress(); err != nil {
		return err
	}
	return e.near.Progress()
}

// Close implements [fabric.Endpoint].
func (e *Endpoint) Close() error { return errors.Join(e.near.Close(), e.far.Close()) }

// PutNBI implements [fabric.NBIPutter].
func (e *Endpoint) PutNBI(pe int, dst fabric.Addr, src []byte) error {
	return e.data(pe).PutNBI(pe, dst, src)
}

// GetNBI implements [fabric.NBIGetter].
func (e *Endpoint) GetNBI(pe int, dst []byte, src fabric.Addr) error {
	return e.data(pe).GetNBI(pe, dst, src)
}

// FetchAtomicNBI implements [fabric.NBIFetcher].
func (e *Endpoint) FetchAtomicNBI(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64, result []byte) error {
	return e.atomics(pe).FetchAtomicNBI(pe, op, dt, dst, v, cmp, result)
}

// PutSignal implements [fabric.SignalPutter]. A signal is an atomic, so it decides which
// way both go.
func (e *Endpoint) PutSignal(pe int, dst fabric.Addr, src []byte, signal fabric.Addr, op fabric.Op, v uint64) error {
	return e.atomics(pe).PutSignal(pe, dst, src, signal, op, v)
}

// PutStrided implements [fabric.StridedPutter].
func (e *Endpoint) PutStrided(pe int, dst fabric.Addr, src []byte, s fabric.Strides) error {
	return e.data(pe).PutStrided(pe, dst, src, s)
}

// GetStrided implements [fabric.StridedGetter].
func (e *Endpoint) GetStrided(pe int, dst []byte, src fabric.Addr, s fabric.Strides) error {
	return e.data(pe).GetStrided(pe, dst, src, s)
}

// PutV implements [fabric.VectorPutter].
func (e *Endpoint) PutV(pe int, parts []fabric.Part) error { return e.data(pe).PutV(pe, parts) }

// GetV implements [fabric.VectorGetter].
func (e *Endpoint) GetV(pe int, parts []fabric.Part) error { return e.data(pe).GetV(pe, parts) }

// PutWords implements [fabric.WordsPutter].
func (e *Endpoint) PutWords(pe int, dst fabric.Addr, words []uint64) error {
	return e.data(pe).PutWords(pe, dst, words)
}

// Notify implements [fabric.Notifier].
func (e *Endpoint) Notify(pe int, dst fabric.Addr, words []uint64) error {
	return e.data(pe).Notify(pe, dst, words)
}

// QuietPEs implements [fabric.PEQuieter].
func (e *Endpoint) QuietPEs(pes []int) error {
	if err := e.near.Quiet(); err != nil {
		return err
	}
	return e.far.QuietPEs(pes)
}

// Batch implements [fabric.Batcher].
func (e *Endpoint) Batch(open bool) error {
	return errors.Join(e.near.Batch(open), e.far.Batch(open))
}
