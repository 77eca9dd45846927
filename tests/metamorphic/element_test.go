// SPDX-License-Identifier: BSD-3-Clause

package metamorphic

import (
	"math/rand/v2"

	"github.com/goshmem/goshmem/shmem"
)

// A kind is an element type.
type kind struct {
	name    string
	atomics atomics
	sums    bool

	alloc func(pe *shmem.PE, o *op) (object, error)
	model func(np, n int) memory
}

// atomics says which atomics a type has.
type atomics uint8

const (
	noAtomics    atomics = iota
	swapAtomics          // fetch, set and swap
	floatAtomics         // also add, and what is beyond the specification
	allAtomics
)

// pair is a structure with padding.
type pair struct {
	a int32
	b [3]uint8
}

// kinds are the element types that programs use. The first is that of signals.
var kinds = [...]kind{
	integer[uint64]("uint64"), integer[int8]("int8"), integer[uint8]("uint8"), integer[int16]("int16"), integer[uint16]("uint16"),
	integer[int32]("int32"), integer[uint32]("uint32"), integer[int64]("int64"), integer[int]("int"), integer[uintptr]("uintptr"),
	float[float32]("float32"), float[float64]("float64"),
	kindOf("complex64", traits[complex64]{
		value:  func(v uint64) complex64 { return complex(float32(v%1000), float32(v>>32%1000)) },
		atomic: swaps[complex64], model: modelSwaps[complex64],
		sum: shmem.SumReduce[complex64], add: plus[complex64],
	}),
	kindOf("complex128", traits[complex128]{
		value: func(v uint64) complex128 { return complex(float64(v%1000), float64(v>>32%1000)) },
		sum:   shmem.SumReduce[complex128], add: plus[complex128],
	}),
	kindOf("[3]byte", traits[[3]byte]{value: func(v uint64) [3]byte { return [3]byte{byte(v), byte(v >> 8), byte(v >> 16)} }}),
	kindOf("[16]byte", traits[[16]byte]{value: func(v uint64) (b [16]byte) {
		for i := range b {
			b[i] = byte(v >> (4 * i))
		}
		return b
	}}),
	kindOf("pair", traits[pair]{value: func(v uint64) pair { return pair{int32(v), [3]uint8{uint8(v >> 32), uint8(v >> 40), uint8(v >> 48)}} }}),
	kindOf("bool", traits[bool]{value: func(v uint64) bool { return v&1 != 0 }}),
}

// traits are what a type can do, on the library's side and in the model.
type traits[T any] struct {
	value  func(v uint64) T
	atomic func(x shmem.Sym[T], o *op, v, w T) []T // returns what is fetched, or will be
	model  func(p *T, o *op, v, w T) []T
	sum    func(team *shmem.Team, dst, src shmem.Sym[T])
	add    func(a, b T) T
}

func kindOf[T any](name string, tr traits[T]) kind {
	k := kind{name: name, sums: tr.sum != nil}
	if tr.atomic != nil {
		k.atomics = swapAtomics
	}
	k.alloc = func(pe *shmem.PE, o *op) (object, error) {
		x, err := allocate[T](pe, o)
		return &library[T]{x: x, traits: tr}, err
	}
	k.model = func(np, n int) memory {
		m := &model[T]{traits: tr, mem: make([][]T, np)}
		for pe := range m.mem {
			m.mem[pe] = make([]T, n)
		}
		return m
	}
	return k
}

func integer[T shmem.Integer](name string) kind {
	k := kindOf(name, traits[T]{
		value:  func(v uint64) T { return T(v) },
		atomic: integerAtomic[T], model: modelInteger[T],
		sum: shmem.SumReduce[T], add: plus[T],
	})
	k.atomics = allAtomics
	return k
}

func float[T ~float32 | ~float64](name string) kind {
	k := kindOf(name, traits[T]{
		value:  func(v uint64) T { return T(int64(v)>>40) / 4 }, // sums are exact
		atomic: ordered[T], model: modelOrdered[T],
		sum: shmem.SumReduce[T], add: plus[T],
	})
	k.atomics = floatAtomics
	return k
}

func plus[T shmem.Numeric](a, b T) T { return a + b }

func allocate[T any](pe *shmem.PE, o *op) (shmem.Sym[T], error) {
	switch o.code {
	case allocAligned:
		return shmem.AllocAligned[T](pe, o.count, 1<<(4+o.value%9))
	case allocHint:
		return shmem.AllocHint[T](pe, o.count, shmem.Hint(o.value%4))
	}
	return shmem.Alloc[T](pe, o.count)
}

// swaps does what every scalar can.
func swaps[T shmem.Scalar](x shmem.Sym[T], o *op, v, _ T) []T {
	switch o.code {
	case set:
		shmem.AtomicSet(x, v, o.target)
	case fetch:
		return []T{shmem.AtomicFetch(x, o.target)}
	case swap:
		return []T{shmem.AtomicSwap(x, v, o.target)}
	case fetchNBI:
		old := make([]T, 1)
		shmem.AtomicFetchNBI(&old[0], x, o.target)
		return old
	case swapNBI:
		old := make([]T, 1)
		shmem.AtomicSwapNBI(&old[0], x, v, o.target)
		return old
	}
	return nil
}

func modelSwaps[T any](p *T, o *op, v, _ T) []T {
	old := []T{*p}
	switch o.code {
	case set, swap, swapNBI:
		*p = v
	}
	return old
}

// ordered does what all types with an order can beyond swaps. w is the comparand.
func ordered[T shmem.Ordered](x shmem.Sym[T], o *op, v, w T) []T {
	old := make([]T, 1)
	switch o.code {
	case add:
		shmem.AtomicAdd(x, v, o.target)
	case minimum:
		shmem.AtomicMin(x, v, o.target)
	case maximum:
		shmem.AtomicMax(x, v, o.target)
	case prod:
		shmem.AtomicProd(x, v, o.target)
	case logicalAnd:
		shmem.AtomicLogicalAnd(x, v, o.target)
	case logicalOr:
		shmem.AtomicLogicalOr(x, v, o.target)
	case logicalXor:
		shmem.AtomicLogicalXor(x, v, o.target)
	case fetchAdd:
		old[0] = shmem.AtomicFetchAdd(x, v, o.target)
	case fetchMin:
		old[0] = shmem.AtomicFetchMin(x, v, o.target)
	case fetchMax:
		old[0] = shmem.AtomicFetchMax(x, v, o.target)
	case fetchProd:
		old[0] = shmem.AtomicFetchProd(x, v, o.target)
	case fetchLogicalAnd:
		old[0] = shmem.AtomicFetchLogicalAnd(x, v, o.target)
	case fetchLogicalOr:
		old[0] = shmem.AtomicFetchLogicalOr(x, v, o.target)
	case fetchLogicalXor:
		old[0] = shmem.AtomicFetchLogicalXor(x, v, o.target)
	case swapIf:
		old[0] = shmem.AtomicCompareSwapIf(x, comparison(o), w, v, o.target)
	case fetchAddNBI:
		shmem.AtomicFetchAddNBI(&old[0], x, v, o.target)
	default:
		return swaps(x, o, v, w)
	}
	return old
}

// comparison returns the one that o swaps by.
func comparison(o *op) shmem.Cmp { return shmem.Cmp(o.value >> 16 % 6) }

func modelOrdered[T shmem.Ordered](p *T, o *op, v, w T) []T {
	old := *p
	truth := func(b bool) {
		if *p = 0; b {
			*p = 1
		}
	}
	switch o.code {
	case add, fetchAdd, fetchAddNBI:
		*p = old + v
	case minimum, fetchMin:
		*p = min(old, v)
	case maximum, fetchMax:
		*p = max(old, v)
	case prod, fetchProd:
		*p = old * v
	case logicalAnd, fetchLogicalAnd:
		truth(old != 0 && v != 0)
	case logicalOr, fetchLogicalOr:
		truth(old != 0 || v != 0)
	case logicalXor, fetchLogicalXor:
		truth((old != 0) != (v != 0))
	case swapIf:
		holds := [...]bool{
			shmem.CmpEQ: old == w, shmem.CmpNE: old != w, shmem.CmpGT: old > w,
			shmem.CmpGE: old >= w, shmem.CmpLT: old < w, shmem.CmpLE: old <= w,
		}
		if holds[comparison(o)] {
			*p = v
		}
	default:
		return modelSwaps(p, o, v, w)
	}
	return []T{old}
}

// integerAtomic does what integers can beyond that.
func integerAtomic[T shmem.Integer](x shmem.Sym[T], o *op, v, w T) []T {
	old := make([]T, 1)
	switch o.code {
	case inc:
		shmem.AtomicInc(x, o.target)
	case and:
		shmem.AtomicAnd(x, v, o.target)
	case or:
		shmem.AtomicOr(x, v, o.target)
	case xor:
		shmem.AtomicXor(x, v, o.target)
	case compareSwap:
		old[0] = shmem.AtomicCompareSwap(x, w, v, o.target)
	case maskedSwap:
		old[0] = shmem.AtomicMaskedSwap(x, w, v, o.target)
	case fetchInc:
		old[0] = shmem.AtomicFetchInc(x, o.target)
	case fetchAnd:
		old[0] = shmem.AtomicFetchAnd(x, v, o.target)
	case fetchOr:
		old[0] = shmem.AtomicFetchOr(x, v, o.target)
	case fetchXor:
		old[0] = shmem.AtomicFetchXor(x, v, o.target)
	case compareSwapNBI:
		shmem.AtomicCompareSwapNBI(&old[0], x, w, v, o.target)
	case fetchIncNBI:
		shmem.AtomicFetchIncNBI(&old[0], x, o.target)
	case fetchAndNBI:
		shmem.AtomicFetchAndNBI(&old[0], x, v, o.target)
	case fetchOrNBI:
		shmem.AtomicFetchOrNBI(&old[0], x, v, o.target)
	case fetchXorNBI:
		shmem.AtomicFetchXorNBI(&old[0], x, v, o.target)
	default:
		return ordered(x, o, v, w)
	}
	return old
}

func modelInteger[T shmem.Integer](p *T, o *op, v, w T) []T {
	old := *p
	switch o.code {
	case maskedSwap:
		*p = v&w | old&^w
	case inc, fetchInc, fetchIncNBI:
		*p = old + 1
	case and, fetchAnd, fetchAndNBI:
		*p = old & v
	case or, fetchOr, fetchOrNBI:
		*p = old | v
	case xor, fetchXor, fetchXorNBI:
		*p = old ^ v
	case compareSwap, compareSwapNBI:
		if old == w {
			*p = v
		}
	default:
		return modelOrdered(p, o, v, w)
	}
	return []T{old}
}

// fetches reports whether the code's result is to be compared.
func (c code) fetches() bool { return c >= fetch && c <= fetchXorNBI }

// comparand returns what a compare-and-swap compares with: a value that the
// word may well hold, since few are used.
func comparand[T any](tr *traits[T], o *op) T { return tr.value(o.value >> 8 % 4) }

// values returns the values of o's local side.
func values[T any](tr *traits[T], o *op) []T {
	s := make([]T, span(o.size, o.blocks, o.local))
	r := rand.New(rand.NewPCG(o.value, 1))
	for i := range s {
		s[i] = tr.value(r.Uint64())
	}
	return s
}
