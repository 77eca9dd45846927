// SPDX-License-Identifier: BSD-3-Clause

package metamorphic

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

// An object is one PE's side of a symmetric object in the library.
type object interface {
	// do carries out o and returns what it fetched, a slice of elements, or nil. A
	// non-blocking operation fills the slice by the next Quiet.
	do(o *op, signal object) any
	collective(pe *shmem.PE, o *op, source object)
	realloc(pe *shmem.PE, n int) (object, error)
	free()
	elements() any // the own ones
	sym() any
}

type library[T any] struct {
	x      shmem.Sym[T]
	traits traits[T]
	src    []T // of blocking puts, reused at once
}

func (l *library[T]) sym() any { return l.x }

func (l *library[T]) elements() any { return l.x.Local() }

func (l *library[T]) do(o *op, signal object) any {
	if o.code.isAtomic() {
		return l.traits.atomic(l.x.At(o.at), o, l.traits.value(o.value), comparand(&l.traits, o))
	}
	x := l.x.Slice(o.at, o.end())
	switch o.code {
	case get, getNBI, getStrided, getBlocks, getV, getValue, load:
		return l.read(x, o)
	case putNBI:
		shmem.PutNBI(x, values(&l.traits, o), o.target)
		return nil
	case putSignalNBI:
		shmem.PutSignalNBI(x, values(&l.traits, o), word(signal, o), o.value, signalOp(o), o.target)
		return nil
	}
	l.src = append(l.src[:0], values(&l.traits, o)...)
	switch o.code {
	case put:
		shmem.Put(x, l.src, o.target)
	case putValue:
		shmem.PutValue(x, l.src[0], o.target)
	case putStrided:
		shmem.PutStrided(x, l.src, o.remote, o.local, o.blocks, o.target)
	case putBlocks:
		shmem.PutBlocks(x, l.src, o.remote, o.local, o.size, o.blocks, o.target)
	case putV:
		shmem.PutV(x, parts(l.src, o), o.target)
	case putSignal:
		shmem.PutSignal(x, l.src, word(signal, o), o.value, signalOp(o), o.target)
	case store:
		copy(x.Local(), l.src)
	}
	return nil
}

func (l *library[T]) read(x shmem.Sym[T], o *op) any {
	dst := make([]T, span(o.size, o.blocks, o.local))
	switch o.code {
	case get:
		shmem.Get(dst, x, o.target)
	case getNBI:
		shmem.GetNBI(dst, x, o.target)
	case getStrided:
		shmem.GetStrided(dst, x, o.local, o.remote, o.blocks, o.target)
	case getBlocks:
		shmem.GetBlocks(dst, x, o.local, o.remote, o.size, o.blocks, o.target)
	case getV:
		shmem.GetV(parts(dst, o), x, o.target)
	case getValue:
		dst[0] = shmem.GetValue(x, o.target)
	case load:
		copy(dst, x.Local())
	}
	return dst
}

// parts returns o's blocks, the last one first.
func parts[T any](s []T, o *op) []shmem.Part[T] {
	var list []shmem.Part[T]
	for b := o.blocks - 1; b >= 0; b-- {
		list = append(list, shmem.Part[T]{At: b * o.remote, Elems: s[b*o.local:][:o.size]})
	}
	return list
}

// word returns the signal that o names.
func word(signal object, o *op) shmem.Sym[uint64] {
	return signal.sym().(shmem.Sym[uint64]).At(o.word)
}

// signalOp says how o updates its signal: words are either added to or set.
func signalOp(o *op) shmem.SignalOp {
	if o.value == 1 {
		return shmem.SigAdd
	}
	return shmem.SigSet
}

func (l *library[T]) collective(pe *shmem.PE, o *op, source object) {
	src, team := source.(*library[T]).x, pe.World()
	switch o.code {
	case broadcast:
		shmem.Broadcast(team, l.x.Slice(o.at, o.at+o.count), src.Slice(o.from, o.from+o.count), o.root)
	case fcollect:
		shmem.FCollect(team, l.x.Slice(o.at, o.at+o.count*pe.NPEs()), src.Slice(o.from, o.from+o.count))
	case allToAll:
		shmem.AllToAll(team, l.x.Slice(o.at, o.at+o.count*pe.NPEs()), src.Slice(o.from, o.from+o.count*pe.NPEs()))
	case sumReduce:
		l.traits.sum(team, l.x.Slice(o.at, o.at+o.count), src.Slice(o.from, o.from+o.count))
	}
}

func (l *library[T]) realloc(pe *shmem.PE, n int) (object, error) {
	x, err := shmem.Realloc(pe, l.x, n)
	return &library[T]{x: x, traits: l.traits}, err
}

func (l *library[T]) free() { shmem.Free(l.x) }

// A runner is one PE that runs a program.
type runner struct {
	pe      *shmem.PE
	objects map[int]object
	pending []check // results of non-blocking operations
}

// A check is a result, to be compared once it is there.
type check struct {
	o    *op
	got  any
	want any
}

func (c check) err() error {
	if equalElements(c.got, c.want) {
		return nil
	}
	return fmt.Errorf("%v: got %v, want %v", c.o, c.got, c.want)
}

// run runs p on pe, compares everything with what the model has, and frees
// what p has left.
func run(pe *shmem.PE, p *program, want *outcome) error {
	r := &runner{pe: pe, objects: map[int]object{}}
	for i, ph := range p.phases {
		if err := r.phase(&ph, want.phases[i]); err != nil {
			return fmt.Errorf("PE %d of %d, phase %d (%s): %w", pe.MyPE(), pe.NPEs(), i, ph.name, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.objects)) {
		r.objects[id].free()
	}
	return nil
}

func (r *runner) phase(ph *phase, want *phaseOutcome) error {
	mine := r.pe.MyPE()
	ops, results := ph.ops[0], want.results[0]
	if !ph.collective {
		ops, results = ph.ops[mine], want.results[mine]
	}
	for i := range ops {
		if err := r.do(&ops[i], results[i]); err != nil {
			return err
		}
	}
	r.pe.BarrierAll()
	if err := r.settle(); err != nil {
		return err
	}
	for _, id := range ph.touched {
		x, wanted := r.objects[id], want.memory[id]
		if x == nil {
			continue // freed
		}
		if got := x.elements(); !equalElements(got, wanted[mine]) {
			return fmt.Errorf("afterwards object %d is %v, want %v", id, got, wanted[mine])
		}
	}
	r.pe.SyncAll() // all have looked
	return nil
}

func (r *runner) do(o *op, want any) error {
	x := r.objects[o.object]
	switch o.code {
	case fence:
		r.pe.Fence()
	case quiet:
		r.pe.Quiet()
		return r.settle()
	case syncAll:
		r.pe.SyncAll()
	case barrierAll:
		r.pe.BarrierAll()
		return r.settle()
	case alloc, allocAligned, allocHint:
		var err error
		r.objects[o.object], err = kinds[o.kind].alloc(r.pe, o)
		return err
	case realloc:
		y, err := x.realloc(r.pe, o.count)
		r.objects[o.object] = y
		return err
	case free:
		x.free()
		delete(r.objects, o.object)
	case broadcast, fcollect, allToAll, sumReduce:
		x.collective(r.pe, o, r.objects[o.source])
	case signalAdd:
		shmem.SignalAdd(word(r.objects[o.signal], o), o.value, o.target)
	case signalSet:
		shmem.SignalSet(word(r.objects[o.signal], o), o.value, o.target)
	case awaitSignal:
		return check{o, []uint64{shmem.SignalWaitUntil(word(r.objects[o.signal], o), shmem.CmpEQ, o.value)}, []uint64{o.value}}.err()
	case awaitWord:
		shmem.WaitUntil(word(r.objects[o.signal], o), shmem.CmpGE, o.value)
	case poll:
		for !shmem.Test(word(r.objects[o.signal], o), shmem.CmpEQ, o.value) {
			continue
		}
	default:
		got := x.do(o, r.objects[o.signal])
		if want == nil {
			return nil
		}
		c := check{o, got, want}
		if o.code.isNBIRead() {
			r.pending = append(r.pending, c)
			return nil
		}
		return c.err()
	}
	return nil
}

// settle compares what non-blocking operations have fetched.
func (r *runner) settle() error {
	for _, c := range r.pending {
		if err := c.err(); err != nil {
			return err
		}
	}
	r.pending = slices.Delete(r.pending, 0, len(r.pending))
	return nil
}
