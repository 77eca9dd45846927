// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

const (
	pageSize = 4096
	tailPad  = 64 // checkptr objects to empty slices at the very end of an allocation
)

// allocate returns n pieces of zeroed Go memory at equal distances, each of which starts on a page.
func allocate(size uintptr, n int) [][]byte {
	step := (size + pageSize - 1) / pageSize * pageSize
	b := make([]byte, uintptr(n)*step+pageSize+tailPad)
	// Only the address is used.
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % pageSize
	pieces := make([][]byte, n)
	for i := range pieces {
		at := skip + uintptr(i)*step
		pieces[i] = b[at : at+size : at+size]
	}
	return pieces
}

// The addresses of words. The index checks that all of a word lies in the
// segment; callers guarantee that it is aligned; the segment outlives the call.

func (s *segment) word16(off fabric.Addr) *uint16 {
	return (*uint16)(unsafe.Pointer(&s.mem[off : off+2][0]))
}

func (s *segment) word32(off fabric.Addr) *uint32 {
	return (*uint32)(unsafe.Pointer(&s.mem[off : off+4][0]))
}

func (s *segment) word64(off fabric.Addr) *uint64 {
	return (*uint64)(unsafe.Pointer(&s.mem[off : off+8][0]))
}

// Go has no atomics below 32 bits. A small word is changed through the 32-bit
// word around it, as every PE's processor would, unless the race detector is
// on: it would take that for an access to the neighbours. Then mu is enough,
// because nobody stores directly.

// loadWord loads a word for an atomic.
func (s *segment) loadWord(off fabric.Addr, size uint8) uint64 {
	switch {
	case size == 8:
		return atomic.LoadUint64(s.word64(off))
	case size == 4:
		return uint64(atomic.LoadUint32(s.word32(off)))
	case !race.Enabled:
		_, v := s.around(off, size)
		return v
	case size == 2:
		return uint64(*s.word16(off))
	default:
		return uint64(s.mem[off])
	}
}

// look is loadWord for a waiter, unseen by the race detector: waiting for a word
// is not reading it. The caller has mu and has disabled the detector.
//
//go:norace
func (s *segment) look(off fabric.Addr, size uint8) uint64 {
	switch {
	case size == 8:
		return atomic.LoadUint64(s.word64(off))
	case size == 4:
		return uint64(atomic.LoadUint32(s.word32(off)))
	case !race.Enabled:
		_, v := s.around(off, size)
		return v
	case size == 2:
		return uint64(*s.word16(off))
	default:
		return uint64(s.mem[off])
	}
}

// storeWord stores a word, untorn.
func (s *segment) storeWord(off fabric.Addr, size uint8, v uint64) {
	switch size {
	case 8:
		atomic.StoreUint64(s.word64(off), v)
	case 4:
		atomic.StoreUint32(s.word32(off), uint32(v))
	case 2:
		*s.word16(off) = uint16(v) // one instruction everywhere
	default:
		s.mem[off] = byte(v) // likewise
	}
}

// casWord stores v if the word still has the bits old.
func (s *segment) casWord(off fabric.Addr, size uint8, old, v uint64) bool {
	switch {
	case size == 8:
		return atomic.CompareAndSwapUint64(s.word64(off), old, v)
	case size == 4:
		return atomic.CompareAndSwapUint32(s.word32(off), uint32(old), uint32(v))
	case race.Enabled:
		s.storeWord(off, size, v)
		return true
	}
	for {
		wide, now := s.around(off, size)
		if now != old {
			return false
		}
		var b [4]byte
		binary.NativeEndian.PutUint32(b[:], wide)
		fabric.PutBits(b[off%4:][:size], v)
		if atomic.CompareAndSwapUint32(s.word32(off&^3), wide, binary.NativeEndian.Uint32(b[:])) {
			return true
		}
	}
}

// around returns the 32-bit word around a small one, and the small one.
func (s *segment) around(off fabric.Addr, size uint8) (wide uint32, v uint64) {
	wide = atomic.LoadUint32(s.word32(off &^ 3))
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], wide)
	if size == 1 {
		return wide, uint64(b[off%4])
	}
	return wide, uint64(binary.NativeEndian.Uint16(b[off%4:]))
}
