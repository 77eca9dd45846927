// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import "unsafe"

// floats returns n float64s at off of a segment.
func floats(mem []byte, off uintptr, n int) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(&mem[off])), n) // within the segment: tests use small n
}

// words returns n elements at off.
func words(mem []byte, off uintptr, n int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(&mem[off])), n) // within mem, which is alive
}
