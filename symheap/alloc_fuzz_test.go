// SPDX-License-Identifier: BSD-3-Clause

package symheap

import "testing"

// FuzzHeap reads its input as calls of three bytes each (what, how much, with
// which alignment or on which object) and compares the heap with its model
// after every one.
func FuzzHeap(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 1, 0, 0, 1, 0, 2, 0, 0, 2, 0, 0})
	f.Add([]byte{1, 9, 3, 0, 255, 12, 3, 40, 1, 3, 2, 0, 2, 0, 0, 1, 0, 0, 4, 7, 7})
	f.Fuzz(func(t *testing.T, calls []byte) {
		const maxCalls = 100 // the model is slow
		c := newChecked(t, testBase, testSize/2)
		for i := 0; i+2 < len(calls) && i < 3*maxCalls; i += 3 {
			what, a, b := calls[i]%6, uintptr(calls[i+1]), uintptr(calls[i+2])
			object := testBase + 64*a // most likely none
			if n := len(c.objects); n > 0 {
				object = c.objects[int(b)%n]
			}
			switch what {
			case 0: // small: 0 … 4080 bytes
				c.alloc(16*a, 1<<(b%14))
			case 1: // around the size where objects become large, and far above
				c.alloc(largeSize-1024+a*a*8, 1<<(b%22))
			case 2:
				c.free(object)
			case 3:
				c.resize(object, 16*a)
			case 4:
				c.resize(object, largeSize-1024+a*a*8)
			case 5: // no object starts inside of one
				c.free(object + 64*(a%4))
			}
		}
		for len(c.objects) > 0 {
			c.free(c.objects[0])
		}
		if inUse, free, largest, _ := c.heap.Stats(); inUse != 0 || largest != free {
			t.Fatalf("all freed, but %d bytes are in use and the largest block has %d of %d bytes", inUse, largest, free)
		}
	})
}
