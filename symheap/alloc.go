// SPDX-License-Identifier: BSD-3-Clause

package symheap

import "fmt"

// Objects start on a cache line and fill whole ones, so that two objects never
// share a line: a PE that polls a flag must not slow down the PE that writes
// its neighbour. 64 bytes is the line of amd64 and of most of arm64; a pair of
// lines (128) was no faster when measured.
//
// A large object starts on a page and fills whole ones: the window commits
// pages when an object is made and gives them back when it is freed, and that
// must never touch a neighbour. From 64 KiB on, the rounding costs at most
// 1/16. Where pages are larger than 4 KiB, the window rounds inwards.
const (
	lineSize  = 64
	pageSize  = 4 << 10
	largeSize = 64 << 10 // objects of this many bytes or more are large
)

// A Heap hands out the offsets of a symmetric heap and keeps all it knows in
// Go memory: nothing is written to the heap itself.
//
// It takes the lowest place where an object fits (address-ordered first fit,
// which keeps the upper end in one piece) and merges a freed object with the
// free blocks at its sides. The same calls in the same order give the same
// offsets and the same errors in every Heap of the same base and size.
//
// Alloc, Free and Resize take O(log n) time for n free blocks; Alloc with an
// alignment above the object's own also looks at the blocks that are large
// enough but miss the alignment.
//
// A Heap is not safe for concurrent use. Callers are collective operations,
// which the program has to order anyway.
type Heap struct {
	base, size uintptr             // the managed range, in whole lines
	live       map[uintptr]uintptr // offset of each object to its extent; never ranged over
	free       freeTree
	inUse      uintptr // sum of live's extents
}

// New returns a heap, all free, of the offsets [base, base+size). Incomplete
// lines at both ends are left out. New panics if base+size overflows.
func New(base, size uintptr) *Heap {
	if base+size < base {
		panic(fmt.Sprintf("symheap: heap of %d bytes at offset %#x overflows", size, base))
	}
	h := &Heap{base: base, live: make(map[uintptr]uintptr)}
	skip := -base & (lineSize - 1)
	if size >= skip+lineSize {
		h.base += skip
		h.size = (size - skip) &^ (lineSize - 1)
		h.free.insert(h.base, h.size)
	}
	return h
}

// Alloc makes an object of size bytes and returns its offset, a multiple of
// align and of 64, and of 4096 if size is 64 KiB or more. align must be a
// power of two. An object of size 0 has an offset of its own, too.
//
// Offsets are aligned, not addresses: an align above the page size holds for
// addresses only as far as segments are mapped at multiples of it.
//
// The error is an [*OutOfMemoryError] if no free block holds the object.
func (h *Heap) Alloc(size, align uintptr) (off uintptr, err error) {
	if align == 0 || align&(align-1) != 0 {
		return 0, fmt.Errorf("symheap: alignment of %d bytes is not a power of two", align)
	}
	extent, unit := round(size)
	align = max(align, unit)
	off, ok := h.free.fit(extent, align)
	if !ok || extent < size {
		return 0, h.outOfMemory(size, align)
	}
	h.take(off, extent)
	h.live[off] = extent
	h.inUse += extent
	return off, nil
}

// Free ends the object at off. Its bytes may be handed out again by the next
// Alloc. It is an error if no object starts at off.
func (h *Heap) Free(off uintptr) error {
	extent, ok := h.live[off]
	if !ok {
		return fmt.Errorf("symheap: free of offset %#x: no object starts there", off)
	}
	delete(h.live, off)
	h.inUse -= extent
	h.give(off, extent)
	return nil
}

// Size returns how many bytes the object at off occupies: at least as many as
// were asked for, rounded up to whole lines or pages. ok is false if no object
// starts at off.
func (h *Heap) Size(off uintptr) (size uintptr, ok bool) {
	size, ok = h.live[off]
	return size, ok
}

// Resize makes the object at off size bytes large where it is, and reports
// whether that was possible: it always is for an object that shrinks, and else
// if the free block behind it is large enough and off is as aligned as Alloc
// would align an object of that size. If it is not possible, or if no object
// starts at off, nothing changes.
func (h *Heap) Resize(off, size uintptr) (ok bool) {
	old, ok := h.live[off]
	if !ok {
		return false
	}
	extent, unit := round(size)
	switch {
	case extent < size: // overflow
		return false
	case extent <= old:
		if extent < old {
			h.give(off+extent, old-extent)
		}
	case off&(unit-1) != 0:
		return false
	default:
		end := off + old
		if b := h.free.floor(end); b == nil || b.off != end || b.size < extent-old {
			return false
		}
		h.take(end, extent-old)
	}
	h.live[off] = extent
	h.inUse += extent - old // wraps when the object shrinks, and so does the sum
	return true
}

// Stats returns how many bytes objects occupy, how many are free, how many the
// largest free block has, and how many objects there are. inUse and free add
// up to the size of the heap.
func (h *Heap) Stats() (inUse, free, largest uintptr, objects int) {
	return h.inUse, h.size - h.inUse, h.free.largest(), len(h.live)
}

// round returns how many bytes an object of size bytes occupies, and the
// alignment it has by itself. An extent below size means overflow.
func round(size uintptr) (extent, unit uintptr) {
	unit = lineSize
	if size >= largeSize {
		unit = pageSize
	}
	return (max(size, 1) + unit - 1) &^ (unit - 1), unit
}

// take removes [off, off+size) from the free block that holds it.
func (h *Heap) take(off, size uintptr) {
	b := h.free.floor(off)
	h.free.remove(b.off)
	if off > b.off {
		h.free.insert(b.off, off-b.off)
	}
	if end := off + size; end < b.end() {
		h.free.insert(end, b.end()-end)
	}
}

// give makes [off, off+size) free, in one block with what is free beside it.
func (h *Heap) give(off, size uintptr) {
	if b := h.free.floor(off); b != nil && b.end() == off {
		h.free.remove(b.off)
		off, size = b.off, b.size+size
	}
	if b := h.free.floor(off + size); b != nil && b.off == off+size {
		h.free.remove(b.off)
		size += b.size
	}
	h.free.insert(off, size)
}
