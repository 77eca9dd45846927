// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import "unsafe"

// floats returns n float64s at off of a segment.
func floats(mem []byte, off uintptr, n int) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(&mem[off])), n) // within the segment: tests use small n
}
