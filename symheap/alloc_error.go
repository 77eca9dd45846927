// SPDX-License-Identifier: BSD-3-Clause

package symheap

import "fmt"

// An OutOfMemoryError says that no free block of a heap holds an object. All
// its numbers are bytes.
type OutOfMemoryError struct {
	Need    uintptr // size of the object
	Align   uintptr // alignment of the object
	Free    uintptr // free bytes in all
	Largest uintptr // the largest free block
	Size    uintptr // the heap
}

func (h *Heap) outOfMemory(need, align uintptr) error {
	_, free, largest, _ := h.Stats()
	return &OutOfMemoryError{Need: need, Align: align, Free: free, Largest: largest, Size: h.size}
}

// Error says what was needed, what there is, and what to do.
func (e *OutOfMemoryError) Error() string {
	return fmt.Sprintf("symheap: out of memory: need %s aligned to %s; of the heap's %s, %s are free, at most %s in one piece: "+
		"make the heap larger with gorun --heap or SHMEM_SYMMETRIC_SIZE",
		sizeText(e.Need), sizeText(e.Align), sizeText(e.Size), sizeText(e.Free), sizeText(e.Largest))
}

// sizeText writes a size exactly: as a whole number of the unit that fits it
// best, or in bytes with the rounded size behind.
func sizeText(size uintptr) string {
	const units = "KMGTPE"
	scaled, unit, whole := float64(size), -1, true
	for rest := size; scaled >= 1024; rest >>= 10 {
		whole = whole && rest&1023 == 0
		scaled /= 1024
		unit++
	}
	switch {
	case unit < 0:
		return fmt.Sprintf("%d bytes", size)
	case whole:
		return fmt.Sprintf("%d %ciB", size>>(10*(unit+1)), units[unit])
	default:
		return fmt.Sprintf("%d bytes (%.4g %ciB)", size, scaled, units[unit])
	}
}
