// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/goshmem/goshmem/fabric"
)

// forms says which pairs the provider runs in which of its three calls.
type forms struct {
	plain   fabric.AtomicTable // fi_atomic
	fetch   fabric.AtomicTable // fi_fetch_atomic
	compare fabric.AtomicTable // fi_compare_atomic
}

// fetching returns the table for op where its old value is wanted.
func (f *forms) fetching(op fabric.Op) *fabric.AtomicTable {
	if op.Compares() {
		return &f.compare
	}
	return &f.fetch
}

// table returns the pairs that run natively in every form that they have.
func (f *forms) table() fabric.AtomicTable {
	var t fabric.AtomicTable
	for op := range fabric.Op(fabric.NumOps) {
		for dt := range fabric.Datatype(fabric.NumDatatypes) {
			if !fabric.Applies(op, dt) {
				continue
			}
			ty := asBits(op, dt)
			if f.fetching(op).Has(op, ty) && (op.Compares() || op == fabric.OpRead || f.plain.Has(op, ty)) {
				t.Set(op, dt)
			}
		}
	}
	return t
}

// findAtomics asks the provider.
func (d *Domain) findAtomics() {
	for op := range fabric.Op(fabric.NumOps) {
		for dt := range fabric.Datatype(fabric.NumDatatypes) {
			if !fabric.Applies(op, dt) || d.lab.limit && !d.lab.native.Has(op, dt) {
				continue
			}
			if mayDiffer(op, dt) {
				continue
			}
			has := func(t *fabric.AtomicTable, form uint64) {
				if d.shim.valid(fiOps[op], int(dt), form) {
					t.Set(op, dt)
				}
			}
			if op.Compares() {
				has(&d.native.compare, formCompare)
				continue
			}
			has(&d.native.fetch, formFetch)
			if op != fabric.OpRead {
				has(&d.native.plain, formPlain)
			}
		}
	}
}

// mayDiffer reports whether a provider may come to another result than [fabric.Apply]: C
// makes infinities of products whose parts are both NaN, and Go does not; 0 equals -0,
// and NaN differs from itself, unless bits are compared.
func mayDiffer(op fabric.Op, dt fabric.Datatype) bool {
	return op == fabric.OpProd && dt == fabric.Complex64 || op == fabric.OpCswapNE && !dt.Integer()
}

// asBits returns the type that op on dt is posted with. What moves bits or compares
// them is posted with an unsigned type: whether a provider compares floats as
// bits or as values is its own affair.
func asBits(op fabric.Op, dt fabric.Datatype) fabric.Datatype {
	if !dt.Integer() && (op == fabric.OpWrite || op == fabric.OpRead || op == fabric.OpCswap) {
		return unsigned(dt.Size())
	}
	return dt
}

// unsigned returns the unsigned type of size bytes.
func unsigned(size uint8) fabric.Datatype {
	switch size {
	case 1:
		return fabric.Uint8
	case 2:
		return fabric.Uint16
	case 4:
		return fabric.Uint32
	case 8:
		return fabric.Uint64
	}
	return fabric.NumDatatypes // which no table has
}

// PutWord implements [fabric.Endpoint]: FI_ATOMIC_WRITE, because a write may arrive
// in pieces.
func (e *Endpoint) PutWord(pe int, dst fabric.Addr, size uint8, v uint64) error {
	ty := unsigned(size)
	if ty == fabric.NumDatatypes {
		return fmt.Errorf("fabric/ofi: put of a word of %d bytes", size)
	}
	return e.Atomic(pe, fabric.OpWrite, ty, dst, v)
}

// PutWords implements fabric's capability of that name: one FI_ATOMIC_WRITE of them all, or of
// as many as the provider takes.
func (e *Endpoint) PutWords(pe int, dst fabric.Addr, words []uint64) error {
	if len(words) == 0 {
		return e.usable()
	}
	if !e.d.native.plain.Has(fabric.OpWrite, fabric.Uint64) {
		for i, v := range words {
			if err := e.PutWord(pe, dst+8*fabric.Addr(i), 8, v); err != nil {
				return err
			}
		}
		return nil
	}
	t, err := e.target("put", pe, dst, 8*len(words))
	if err != nil {
		return err
	}
	defer e.wrote(pe)
	_, err = e.drive("put", pe, nil, func(from uint64, _ waiter) result { return e.s.putWords(t, words, from) })
	return err
}

// Notify implements [fabric.Notifier]: fi_inject_write, which nobody answers, where the
// provider injects so much.
func (e *Endpoint) Notify(pe int, dst fabric.Addr, words []uint64) error {
	if 8*len(words) > e.d.inject {
		return e.PutWords(pe, dst, words)
	}
	t, err := e.target("notify", pe, dst, 8*len(words))
	if err != nil {
		return err
	}
	_, err = e.drive("notify", pe, nil, func(uint64, waiter) result { return e.s.notify(t, words) })
	return err
}

// Atomic implements [fabric.Endpoint]. What the provider cannot do without
// fetching is fetched and thrown away.
func (e *Endpoint) Atomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v uint64) error {
	if op.Compares() || op == fabric.OpRead || !fabric.Applies(op, dt) {
		return fmt.Errorf("fabric/ofi: there is no atomic %v on %v", op, dt)
	}
	ty := asBits(op, dt)
	if mayMeetNaN(op, dt) || !e.d.native.plain.Has(op, ty) {
		_, err := e.FetchAtomic(pe, op, dt, dst, v, 0)
		return err
	}
	if e.batch.open.Load() && e.d.verdict.cpuAtomics {
		if taken, err := e.collectAtomic(pe, op, ty, dst, v); taken || err != nil {
			return err
		}
	}
	t, err := e.target(op.String(), pe, dst, int(ty.Size()))
	if err != nil {
		return err
	}
	defer e.wrote(pe)
	r := e.s.atomic(t, fiOps[op], int(ty), v)
	e.turns.call()
	if r.status == done {
		e.d.ring()
		return nil
	}
	_, err = e.driveOn(op.String(), pe, nil, func(uint64, waiter) result { return e.s.atomic(t, fiOps[op], int(ty), v) }, r)
	return err
}

// FetchAtomic implements [fabric.Endpoint].
func (e *Endpoint) FetchAtomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64) (uint64, error) {
	if !fabric.Applies(op, dt) {
		return 0, fmt.Errorf("fabric/ofi: there is no fetching atomic %v on %v", op, dt)
	}
	if op == fabric.OpRead && pe == e.d.job.PE && e.d.verdict.cpuAtomics {
		return e.readOwn(dst, dt)
	}
	ty := asBits(op, dt)
	if !e.d.native.fetching(op).Has(op, ty) {
		return e.software(pe, op, dt, dst, v, cmp)
	}
	if mayMeetNaN(op, dt) {
		return e.overNaN(pe, op, dt, dst, v)
	}
	return e.fetch(pe, op, ty, dst, v, cmp)
}

// fetch posts a native operation and returns the old bits.
func (e *Endpoint) fetch(pe int, op fabric.Op, ty fabric.Datatype, dst fabric.Addr, v, cmp uint64) (uint64, error) {
	t, err := e.target(op.String(), pe, dst, int(ty.Size()))
	if err != nil {
		return 0, err
	}
	e.d.flushDirty()
	defer e.wrote(pe)
	return e.drive(op.String(), pe, nil, func(uint64, waiter) result {
		return e.s.fetch(t, fiOps[op], int(ty), op.Compares(), v, cmp)
	})
}

// mayMeetNaN: the minimum and maximum of a number and a NaN are the number, but
// providers compare, and a comparison with a NaN leaves the word as it is.
func mayMeetNaN(op fabric.Op, dt fabric.Datatype) bool {
	return (op == fabric.OpMin || op == fabric.OpMax) && (dt == fabric.Float32 || dt == fabric.Float64)
}

// overNaN is a native minimum or maximum that replaces a NaN, which it has left in
// its place, as long as that is still there.
func (e *Endpoint) overNaN(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v uint64) (uint64, error) {
	for {
		old, err := e.fetch(pe, op, dt, dst, v, 0)
		if err != nil || !isNaN(dt, old) || isNaN(dt, v) {
			return old, err
		}
		now, err := e.FetchAtomic(pe, fabric.OpCswap, dt, dst, v, old)
		if err != nil || now == old {
			return old, err
		}
	}
}

func isNaN(dt fabric.Datatype, bits uint64) bool {
	if dt == fabric.Float32 {
		return math.IsNaN(float64(math.Float32frombits(uint32(bits))))
	}
	return math.IsNaN(math.Float64frombits(bits))
}

// software does what the provider cannot do: it reads the word, applies op here and swaps
// the result in, until nobody has changed the word in between. The swap may be of a
// wider word around it.
func (e *Endpoint) software(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64) (uint64, error) {
	size := dt.Size()
	for wide := size; wide <= 8; wide *= 2 {
		ty := unsigned(wide)
		if e.d.native.compare.Has(fabric.OpCswap, ty) {
			return e.swapIn(pe, op, dt, dst, v, cmp, ty)
		}
	}
	return 0, fmt.Errorf("fabric/ofi: provider %s has neither an atomic %v on %v nor a compare-and-swap to build it from", e.d.provider, op, dt)
}

func (e *Endpoint) swapIn(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64, ty fabric.Datatype) (uint64, error) {
	base := dst &^ (fabric.Addr(ty.Size()) - 1)
	at := dst - base
	seen, err := e.fetch(pe, fabric.OpCswap, ty, base, 0, 0) // stores 0 over 0, if that
	for err == nil {
		var b, old [8]byte
		binary.NativeEndian.PutUint64(b[:], seen)
		word := b[at : at+fabric.Addr(dt.Size())]
		copy(old[:], word)
		bits := binary.NativeEndian.Uint64(old[:])
		fabric.PutBits(word, fabric.Apply(op, dt, bits, v, cmp))
		var now uint64
		now, err = e.fetch(pe, fabric.OpCswap, ty, base, binary.NativeEndian.Uint64(b[:]), seen)
		if err == nil && now == seen {
			return bits, nil
		}
		seen = now
	}
	return 0, err
}

// readOwn reads an own word as a wait does: programs that poll one would go through the
// provider to themselves each time.
func (e *Endpoint) readOwn(off fabric.Addr, dt fabric.Datatype) (uint64, error) {
	if _, err := e.target("read", e.d.job.PE, off, int(dt.Size())); err != nil {
		return 0, err
	}
	e.d.tokens.Acquire(off)
	return e.d.word(off).load(dt.Size()), nil
}
