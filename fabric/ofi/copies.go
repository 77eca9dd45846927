// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import "sync"

// Buffers of blocking operations may be on their callers' stacks. A stack stays
// where it is during a call of the shim, but not while an operation that is still
// in flight is waited for in Go: the stack may grow then, and a collection may
// shrink it. So what is in flight for longer than a call gets a copy, unless it is
// too long for a stack.

// largestOnStack is the size in bytes of the largest variable that the compiler puts
// on a stack.
const largestOnStack = 128 << 10

// copies are buffers in the heap, by size.
type copies [3]sync.Pool

var copySizes = [...]int{1 << 10, bounceSize, largestOnStack}

// A heapCopy stands for a caller's buffer.
type heapCopy struct {
	bytes []byte
	all   []byte // bytes are some of them
	class int
}

// take returns a buffer of size bytes, at most largestOnStack.
func (c *copies) take(size int) *heapCopy {
	class := 0
	for copySizes[class] < size {
		class++
	}
	h, ok := c[class].Get().(*heapCopy)
	if !ok {
		h = &heapCopy{all: make([]byte, copySizes[class]), class: class}
	}
	h.bytes = h.all[:size]
	return h
}

// put gives h back, of which nothing is in flight.
func (c *copies) put(h *heapCopy) { c[h.class].Put(h) }

// sending calls post with src, or with a copy that stays where it is.
func (e *Endpoint) sending(src []byte, post func(src []byte) error) error {
	if len(src) > largestOnStack {
		return post(src)
	}
	h := e.d.copies.take(len(src))
	copy(h.bytes, src)
	err := post(h.bytes)
	if err == nil {
		e.d.copies.put(h) // after an error something may still be in flight
	}
	return err
}
