// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
)

// A word is an aligned word of the segment or of the shim's memory.
type word struct{ p unsafe.Pointer }

// word returns the one at off. Callers have checked that it lies in the segment.
func (d *Domain) word(off fabric.Addr) word {
	// In bounds by the callers' check; alive: pinned, or mapped for good.
	return word{unsafe.Pointer(&d.segment[off])}
}

// load loads size bytes. Go has no atomic loads below 32 bits: a small word is read with the
// aligned 32-bit word around it, at most 3 bytes down, which the segment holds
// because it begins aligned to 8 bytes.
func (w word) load(size uint8) uint64 {
	switch size {
	case 8:
		return atomic.LoadUint64((*uint64)(w.p)) // aligned, as promised
	case 4:
		return uint64(atomic.LoadUint32((*uint32)(w.p))) // likewise
	}
	in := uintptr(w.p) & 3
	all := atomic.LoadUint32((*uint32)(unsafe.Add(w.p, -int(in)))) // likewise
	// The shim's machines are little-endian.
	return uint64(all>>(8*in)) & (1<<(8*size) - 1)
}

// aligned reports whether a segment can be used: words are aligned as their
// offsets are.
func aligned(segment []byte) bool {
	// Only the address is used.
	return uintptr(unsafe.Pointer(unsafe.SliceData(segment)))%8 == 0
}

const pageSize = 4096

// populate gives the segment its pages, before anybody else has it.
func populate(segment []byte) error {
	// Only the address is used.
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(segment))) % pageSize)
	if skip >= len(segment) {
		return nil
	}
	err := unix.Madvise(segment[skip:], unix.MADV_POPULATE_WRITE)
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	for i := skip; i+4 <= len(segment); i += pageSize { // the kernel is older than 5.14
		// In bounds by the loop's condition, aligned as a page is. It is a write that changes nothing.
		atomic.AddUint32((*uint32)(unsafe.Pointer(&segment[i])), 0)
	}
	return nil
}
