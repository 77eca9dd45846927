// SPDX-License-Identifier: BSD-3-Clause

//go:build !amd64

package shmem

import (
	"sync/atomic"
	"unsafe"
)

// storeWord stores v at p in one piece, after everything before it.
func storeWord[T any](p unsafe.Pointer, v T) {
	switch unsafe.Sizeof(v) {
	case 8:
		atomic.StoreUint64((*uint64)(p), bits(v))
	case 4:
		atomic.StoreUint32((*uint32)(p), uint32(bits(v)))
	default:
		swapWord(p, v)
	}
}
