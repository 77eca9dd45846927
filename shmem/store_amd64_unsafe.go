// SPDX-License-Identifier: BSD-3-Clause

//go:build amd64

package shmem

import "unsafe"

// storeWord stores v at p in one piece, after everything before it. On amd64 a
// plain MOV does both; atomic.Store would be an XCHG, 20–60 % of a hop. The
// race detector never sees this: its builds go through endpoints.
func storeWord[T any](p unsafe.Pointer, v T) {
	// The conversions read v's own bytes and write the word at p.
	if n := sizeof[T](); n == 8 {
		*(*uint64)(p) = *(*uint64)(unsafe.Pointer(&v))
	} else if n == 4 {
		*(*uint32)(p) = *(*uint32)(unsafe.Pointer(&v))
	} else {
		*(*T)(p) = v // one or two bytes
	}
}
