// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "github.com/goshmem/goshmem/fabric"

// A Part is one range of a vectored transfer: elements here, and where their
// places are in the symmetric object.
type Part[T any] struct {
	At    int // element of the object at which the range begins
	Elems []T // a put's source, a get's destination; it may be empty
}

// PutV copies several ranges at once: the elements of each part to x on PE
// target, from element At on.
//
//	for _, p := range parts { Put(x.Slice(p.At, p.At+len(p.Elems)), p.Elems, target) }
//
// It is made for ranges of any length at any distance; a fabric sends several
// in one message. Completion is Put's: it returns when all parts' elements may
// be reused. Delivery is unordered, so the ranges in x must not overlap. parts
// itself is not kept.
//
// PutV panics if x is zero or freed, if a part does not fit x, or if target is
// out of range; then nothing has been copied. Beyond OpenSHMEM 1.6, 9.6.1.
func PutV[T any](x Sym[T], parts []Part[T], target int) {
	checkParts("PutV", x, parts, target)
	if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
		for _, part := range parts {
			copy(span[T](p, x.n)[part.At:], part.Elems)
		}
		return
	}
	transferParts("PutV", x, parts, target, (*fabric.Extended).PutV)
}

// GetV copies several ranges at once: elements of x on PE target, from each
// part's At on, to that part's Elems.
//
//	for _, p := range parts { Get(p.Elems, x.Slice(p.At, p.At+len(p.Elems)), target) }
//
// It returns when all of them are there. The parts' Elems must not overlap.
// parts itself is not kept.
//
// GetV panics as PutV does. Beyond OpenSHMEM 1.6, 9.6.1.
func GetV[T any](parts []Part[T], x Sym[T], target int) {
	checkParts("GetV", x, parts, target)
	if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
		for _, part := range parts {
			copy(part.Elems, span[T](p, x.n)[part.At:])
		}
		return
	}
	transferParts("GetV", x, parts, target, (*fabric.Extended).GetV)
}

// checkParts panics on misuse.
func checkParts[T any](op string, x Sym[T], parts []Part[T], target int) {
	x.check(op, 0, target)
	for i := range parts {
		if at, n := parts[i].At, len(parts[i].Elems); uint(at) > uint(x.n) || n > x.n-at {
			x.refuse(op, target, "part %d, %d elements from %d on, does not fit the object's %d", i, n, at, x.n)
		}
	}
}

// partsAtOnce is how many ranges an endpoint gets in one call.
const partsAtOnce = 64

// partList is what it gets. Lists are in the Go heap, so the elements of the parts are seen
// to escape, unlike Put's and Get's, and are not on a stack: a pointer to them is held
// while others are gathered.
type partList [partsAtOnce]fabric.Part

// transferParts hands the parts to the endpoint.
//
//go:noinline
func transferParts[T any](op string, x Sym[T], parts []Part[T], target int, transfer func(*fabric.Extended, int, []fabric.Part) error) {
	lists := &x.ctx.pe.partLists
	list, ok := lists.Get().(*partList)
	if !ok {
		list = new(partList)
	}
	ep, pe := x.ctx.w.Endpoint(), x.ctx.world(target)
	n := 0
	for i := range parts {
		if len(parts[i].Elems) > 0 {
			list[n] = fabric.Part{Off: x.off + uintptr(parts[i].At)*sizeof[T](), Data: bytesOfEscaping(parts[i].Elems)}
			n++
		}
		if n == len(list) || n > 0 && i == len(parts)-1 {
			x.ctx.must(op, target, transfer(ep, pe, list[:n]))
			n = 0
		}
	}
	clear(list[:min(len(parts), len(list))])
	lists.Put(list)
}
