// SPDX-License-Identifier: BSD-3-Clause

package metamorphic

import (
	"reflect"
	"slices"
)

// A memory is an object in the model: what a symmetric object is, on all PEs.
// It is plain Go and knows neither fabrics nor when things are complete.
type memory interface {
	do(o *op, me int) any // what is fetched, a slice of elements, or nil
	collective(o *op, source memory)
	realloc(n int)
	snapshot() []any // each PE's elements
}

type model[T any] struct {
	traits traits[T]
	mem    [][]T // of each PE
}

func (m *model[T]) do(o *op, me int) any {
	if o.code.isAtomic() {
		old := m.traits.model(&m.mem[o.target][o.at], o, m.traits.value(o.value), comparand(&m.traits, o))
		if !o.code.fetches() || o.noResult {
			return nil
		}
		return old
	}
	switch o.code {
	case get, getNBI, getStrided, getBlocks, getV, getValue, load:
		dst := make([]T, span(o.size, o.blocks, o.local))
		o.each(func(remote, local int) { dst[local] = m.mem[o.target][o.at+remote] })
		return dst
	}
	src := values(&m.traits, o)
	o.each(func(remote, local int) { m.mem[o.target][o.at+remote] = src[local] })
	return nil
}

func (m *model[T]) collective(o *op, source memory) {
	np := len(m.mem)
	var src [][]T
	for _, s := range source.(*model[T]).mem {
		src = append(src, slices.Clone(s[o.from:]))
	}
	for pe, dst := range m.mem {
		dst = dst[o.at:]
		switch o.code {
		case broadcast:
			copy(dst, src[o.root][:o.count])
		case fcollect:
			for q := range np {
				copy(dst[q*o.count:], src[q][:o.count])
			}
		case allToAll:
			for q := range np {
				copy(dst[q*o.count:], src[q][pe*o.count:(pe+1)*o.count])
			}
		case sumReduce:
			for i := range o.count {
				sum := src[0][i]
				for q := 1; q < np; q++ {
					sum = m.traits.add(sum, src[q][i])
				}
				dst[i] = sum
			}
		}
	}
}

func (m *model[T]) realloc(n int) {
	for pe, old := range m.mem {
		m.mem[pe] = make([]T, n)
		copy(m.mem[pe], old)
	}
}

func (m *model[T]) snapshot() []any {
	var all []any
	for _, s := range m.mem {
		all = append(all, slices.Clone(s))
	}
	return all
}

// An outcome is what a program must come to.
type outcome struct{ phases []*phaseOutcome }

type phaseOutcome struct {
	results [][]any       // by PE and operation; nil: nothing to compare
	memory  map[int][]any // of the objects touched, by PE
}

// predict runs p on the model, one PE after the other; but first all of them
// up to their first wait, which is for what the others do.
func predict(p *program) *outcome {
	out := new(outcome)
	objects := map[int]memory{}
	for _, ph := range p.phases {
		now := &phaseOutcome{memory: map[int][]any{}, results: make([][]any, len(ph.ops))}
		for _, beforeWait := range []bool{true, false} {
			for me, ops := range ph.ops {
				waits := slices.IndexFunc(ops, func(o op) bool { return o.code.waits() })
				if waits < 0 {
					waits = len(ops)
				}
				part := ops[waits:]
				if beforeWait {
					part = ops[:waits]
				}
				for i := range part {
					now.results[me] = append(now.results[me], predictOp(objects, &part[i], p.np, me))
				}
			}
		}
		for _, id := range ph.touched {
			if m := objects[id]; m != nil {
				now.memory[id] = m.snapshot()
			}
		}
		out.phases = append(out.phases, now)
	}
	return out
}

func predictOp(objects map[int]memory, o *op, np, me int) any {
	signal := func() *uint64 { return &objects[o.signal].(*model[uint64]).mem[o.target][o.word] }
	switch o.code {
	case fence, quiet, syncAll, barrierAll, awaitSignal, awaitWord, poll:
	case alloc, allocAligned, allocHint:
		objects[o.object] = kinds[o.kind].model(np, o.count)
	case realloc:
		objects[o.object].realloc(o.count)
	case free:
		delete(objects, o.object)
	case broadcast, fcollect, allToAll, sumReduce:
		objects[o.object].collective(o, objects[o.source])
	case signalAdd:
		*signal() += o.value
	case signalSet:
		*signal() = o.value
	case putSignal, putSignalNBI:
		objects[o.object].do(o, me)
		if o.value == 1 {
			*signal()++
		} else {
			*signal() = o.value
		}
	default:
		return objects[o.object].do(o, me)
	}
	return nil
}

// equalElements compares two slices of elements.
func equalElements(a, b any) bool {
	return reflect.ValueOf(a).Len() == 0 && reflect.ValueOf(b).Len() == 0 || reflect.DeepEqual(a, b)
}
