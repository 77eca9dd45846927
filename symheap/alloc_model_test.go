// SPDX-License-Identifier: BSD-3-Clause

package symheap

import (
	"errors"
	"slices"
	"testing"
)

// A model is the slow reference of Heap: one word for each line of the heap
// says which object covers it, and every question is answered by looking at
// all of them.
type model struct {
	base  uintptr
	lines []uintptr // lines[i] is the offset of the object on line i, or nobody
}

const nobody = ^uintptr(0)

func newModel(base, size uintptr) *model {
	m := &model{base: base, lines: make([]uintptr, size/64)}
	for i := range m.lines {
		m.lines[i] = nobody
	}
	return m
}

func (m *model) total() uintptr { return 64 * uintptr(len(m.lines)) }

// shape returns the bytes that an object occupies and its least alignment. Of
// an object that is larger than the heap, it only says so.
func (m *model) shape(size uintptr) (extent, unit uintptr) {
	unit = 64
	if size >= 65536 {
		unit = 4096
	}
	for extent = unit; extent < size && extent <= m.total(); {
		extent += unit
	}
	return extent, unit
}

// vacant reports whether [off, off+extent) lies in the heap and is free.
func (m *model) vacant(off, extent uintptr) bool {
	if off < m.base || (off-m.base+extent)/64 > uintptr(len(m.lines)) {
		return false
	}
	for _, object := range m.lines[(off-m.base)/64 : (off-m.base+extent)/64] {
		if object != nobody {
			return false
		}
	}
	return true
}

func (m *model) fill(off, extent, object uintptr) {
	for i := range extent / 64 {
		m.lines[(off-m.base)/64+i] = object
	}
}

// alloc takes the lowest place, if there is one.
func (m *model) alloc(size, align uintptr) (off uintptr, ok bool) {
	extent, unit := m.shape(size)
	for i := range m.lines {
		off := m.base + 64*uintptr(i)
		if off%max(align, unit) == 0 && m.vacant(off, extent) {
			m.fill(off, extent, off)
			return off, true
		}
	}
	return 0, false
}

// size returns how many bytes the object at off occupies, 0 if there is none.
func (m *model) size(off uintptr) (extent uintptr) {
	if off < m.base || off%64 != 0 {
		return 0
	}
	for i := (off - m.base) / 64; i < uintptr(len(m.lines)) && m.lines[i] == off; i++ {
		extent += 64
	}
	return extent
}

func (m *model) free(off uintptr) bool {
	extent := m.size(off)
	if extent == 0 {
		return false
	}
	m.fill(off, extent, nobody)
	return true
}

func (m *model) resize(off, size uintptr) bool {
	old := m.size(off)
	extent, unit := m.shape(size)
	if old == 0 || extent > old && (off%unit != 0 || !m.vacant(off+old, extent-old)) {
		return false
	}
	m.fill(off, old, nobody)
	m.fill(off, extent, off)
	return true
}

func (m *model) stats() (inUse, vacant, largest uintptr, objects int) {
	var run uintptr
	for i, object := range m.lines {
		if object == nobody {
			run += 64
			vacant += 64
			largest = max(largest, run)
			continue
		}
		run = 0
		inUse += 64
		if i == 0 || m.lines[i-1] != object {
			objects++
		}
	}
	return inUse, vacant, largest, objects
}

// A checked heap makes every call on a Heap, on a second one, and on the
// model, and fails the test when they differ or when a promise is broken.
type checked struct {
	t       *testing.T
	heap    *Heap
	twin    *Heap
	model   *model
	objects []uintptr // live offsets, oldest first
}

func newChecked(t *testing.T, base, size uintptr) *checked {
	t.Helper()
	c := &checked{t: t, heap: New(base, size), twin: New(base, size), model: newModel(base, size)}
	c.check()
	return c
}

func (c *checked) alloc(size, align uintptr) (off uintptr, ok bool) {
	c.t.Helper()
	off, err := c.heap.Alloc(size, align)
	if twin, twinErr := c.twin.Alloc(size, align); twin != off || (twinErr == nil) != (err == nil) {
		c.t.Fatalf("Alloc(%d, %d) = %#x, %v; on a second heap %#x, %v", size, align, off, err, twin, twinErr)
	}
	want, ok := c.model.alloc(size, align)
	if ok != (err == nil) || off != want {
		c.t.Fatalf("Alloc(%d, %d) = %#x, %v; want %#x, %v", size, align, off, err, want, ok)
	}
	if !ok {
		_, vacant, largest, _ := c.model.stats()
		_, unit := c.model.shape(size)
		want := OutOfMemoryError{Need: size, Align: max(align, unit), Free: vacant, Largest: largest, Size: c.model.total()}
		var got *OutOfMemoryError
		if !errors.As(err, &got) || *got != want {
			c.t.Fatalf("Alloc(%d, %d) = %#v, want %#v", size, align, err, want)
		}
	} else {
		c.objects = append(c.objects, off)
	}
	c.check()
	return off, ok
}

func (c *checked) free(off uintptr) {
	c.t.Helper()
	err := c.heap.Free(off)
	if twinErr := c.twin.Free(off); (twinErr == nil) != (err == nil) {
		c.t.Fatalf("Free(%#x) = %v; on a second heap %v", off, err, twinErr)
	}
	if ok := c.model.free(off); ok != (err == nil) {
		c.t.Fatalf("Free(%#x) = %v, but an object starts there: %v", off, err, ok)
	}
	c.objects = slices.DeleteFunc(c.objects, func(o uintptr) bool { return o == off })
	c.check()
}

func (c *checked) resize(off, size uintptr) bool {
	c.t.Helper()
	got := c.heap.Resize(off, size)
	if twin := c.twin.Resize(off, size); twin != got {
		c.t.Fatalf("Resize(%#x, %d) = %v; on a second heap %v", off, size, got, twin)
	}
	if want := c.model.resize(off, size); got != want {
		c.t.Fatalf("Resize(%#x, %d) = %v, want %v", off, size, got, want)
	}
	c.check()
	return got
}

// check compares all that the heap says with the model.
func (c *checked) check() {
	c.t.Helper()
	inUse, vacant, largest, objects := c.heap.Stats()
	wantInUse, wantVacant, wantLargest, wantObjects := c.model.stats()
	if inUse != wantInUse || vacant != wantVacant || largest != wantLargest || objects != wantObjects {
		c.t.Fatalf("Stats() = %d, %d, %d, %d; want %d, %d, %d, %d",
			inUse, vacant, largest, objects, wantInUse, wantVacant, wantLargest, wantObjects)
	}
	for _, off := range c.objects {
		if got, ok := c.heap.Size(off); !ok || got != c.model.size(off) {
			c.t.Fatalf("Size(%#x) = %d, %v; want %d", off, got, ok, c.model.size(off))
		}
	}
	checkTree(c.t, c.heap)
}

// checkTree fails the test if the free blocks are not those of a treap of
// blocks that do not touch.
func checkTree(t *testing.T, h *Heap) {
	t.Helper()
	last := nobody // end of the block before
	var walk func(b *freeBlock)
	walk = func(b *freeBlock) {
		if b == nil {
			return
		}
		walk(b.left)
		if b.size == 0 || last != nobody && b.off <= last {
			t.Fatalf("free block [%#x, %#x) is empty, or not beyond %#x where the one before it ends", b.off, b.end(), last)
		}
		last = b.end()
		walk(b.right)
		if want := max(b.size, b.left.max(), b.right.max()); b.largest != want {
			t.Fatalf("free block %#x: largest = %d, want %d", b.off, b.largest, want)
		}
		for _, child := range []*freeBlock{b.left, b.right} {
			if child != nil && child.priority > b.priority {
				t.Fatalf("free block %#x lies below %#x, which has a lower priority", child.off, b.off)
			}
		}
	}
	walk(h.free.root)
}
