// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package shm

import (
	"sync/atomic"
	"unsafe"

	"github.com/goshmem/goshmem/fabric"
)

// word returns the address of off in near PE pe's segment. Callers guarantee
// that pe is near and off within a segment, or what turnOff returned.
func (d *Domain) word(pe int, off fabric.Addr) unsafe.Pointer {
	// In bounds by the caller's promise; mapped until the process ends.
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(d.mem)), d.layout.Offset(pe-d.layout.First)+off)
}

// loadWord loads size bytes at p, which is aligned to size. Go has no atomic
// loads below 32 bits: a small word is read with the aligned 32-bit word around
// it, which lies in the same page.
func loadWord(p unsafe.Pointer, size uint8) uint64 {
	switch size {
	case 8:
		return atomic.LoadUint64((*uint64)(p)) // aligned and mapped, as promised
	case 4:
		return uint64(atomic.LoadUint32((*uint32)(p))) // likewise
	}
	w, shift := around(p)
	return uint64(atomic.LoadUint32(w)>>shift) & (1<<(8*size) - 1)
}

// around returns the aligned 32-bit word that holds the small word at p, and
// how far to shift right to bring it down. Little-endian, as all of Linux's
// machines that Go runs on with shared memory here (amd64, arm64) are.
func around(p unsafe.Pointer) (w *uint32, shift uint32) {
	in := uintptr(p) & 3
	// At most 3 bytes down, within the same page.
	return (*uint32)(unsafe.Add(p, -int(in))), uint32(8 * in)
}

// casWord replaces old by v at p if the word still has the bits old.
func casWord(p unsafe.Pointer, size uint8, old, v uint64) bool {
	switch size {
	case 8:
		return atomic.CompareAndSwapUint64((*uint64)(p), old, v) // aligned and mapped
	case 4:
		return atomic.CompareAndSwapUint32((*uint32)(p), uint32(old), uint32(v)) // likewise
	}
	w, shift := around(p)
	mask := uint32(1<<(8*size)-1) << shift
	for {
		all := atomic.LoadUint32(w)
		if all&mask != uint32(old)<<shift {
			return false
		}
		if atomic.CompareAndSwapUint32(w, all, all&^mask|uint32(v)<<shift&mask) {
			return true
		}
	}
}

// storeWord stores v at p, untorn.
func storeWord(p unsafe.Pointer, size uint8, v uint64) {
	switch size {
	case 8:
		atomic.StoreUint64((*uint64)(p), v) // aligned and mapped
	case 4:
		atomic.StoreUint32((*uint32)(p), uint32(v)) // likewise
	case 2:
		*(*uint16)(p) = uint16(v) // one instruction everywhere
	case 1:
		*(*uint8)(p) = uint8(v) // likewise
	}
}

// fullFence orders stores before it ahead of loads after it. word is the
// caller's own, on no one else's cache line.
func fullFence(word *uint32) { atomic.SwapUint32(word, 0) }
