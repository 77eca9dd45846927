// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "unsafe"

// storeWord stores v at p in one piece, after everything before it. On amd64 a
// plain MOV does both; atomic.Store would be an XCHG, 20–60 % of a hop. The
// race detector never sees this: its builds go through endpoints.
func storeWord[T any](p unsafe.Pointer, v T) {
	switch unsafe.Sizeof(v) {
	case 8:
		*(*uint64)(p) = bits(v)
	case 4:
		*(*uint32)(p) = uint32(bits(v))
	case 2:
		*(*uint16)(p) = uint16(bits(v))
	case 1:
		*(*uint8)(p) = uint8(bits(v))
	}
}
