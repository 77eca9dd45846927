// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"sync/atomic"
	"unsafe"
)

// Direct access to near memory. A pointer here comes from a Window and lies in
// a mapped segment; checks of range and life have been made by the verb.
// Words are aligned because offsets of objects and of elements are.

// sizeof returns the size of a T in bytes.
func sizeof[T any]() uintptr {
	var zero T
	return unsafe.Sizeof(zero)
}

// alignof returns the alignment of a T in bytes.
func alignof[T any]() uintptr {
	var zero T
	return unsafe.Alignof(zero)
}

// span returns n elements at p.
func span[T any](p unsafe.Pointer, n int) []T {
	return unsafe.Slice((*T)(p), n) // in bounds: n was checked against the object
}

// within returns n elements at off of a segment.
func within[T any](segment []byte, off uintptr, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&segment[off])), n) // in bounds: an object lies within its segment
}

// bytesOf returns s as bytes, hidden from escape analysis: blocking operations
// of an endpoint keep no slice after they return, so a buffer on the caller's
// stack may stay there.
func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(noescape(unsafe.Pointer(unsafe.SliceData(s)))), uintptr(len(s))*sizeof[T]()) // the same memory
}

// bytesOfEscaping returns s as bytes, for operations that keep the slice.
func bytesOfEscaping[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*sizeof[T]()) // the same memory
}

// bytesAt returns the bytes of *v, for operations that keep the slice.
func bytesAt[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), sizeof[T]()) // the same memory
}

// noescape hides a pointer from escape analysis: what it returns does not
// seem to come from p. A stack does not move between its two steps: it grows at
// calls only, and does not shrink at an asynchronous stop.
//
//go:nosplit
//go:nocheckptr
func noescape(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(nil, uintptr(p)) }

// unescaped returns s hidden from escape analysis, for blocking operations that do not keep it.
func unescaped(s []int) []int {
	return unsafe.Slice((*int)(noescape(unsafe.Pointer(unsafe.SliceData(s)))), len(s)) // the same memory
}

// The helpers below are written for the inliner: a condition on the size of T is
// settled when a verb is instantiated, but counts against the budget before, as
// does a call, seven times as much. So words are read and written through a
// uint64 whose first bytes they are: every machine with near PEs is little-endian.

// bits returns v's bits, zero-extended. T is 1, 2, 4 or 8 bytes.
func bits[T any](v T) (b uint64) {
	*(*T)(unsafe.Pointer(&b)) = v // v is no larger than b
	return b
}

// fromBits is the inverse of bits.
func fromBits[T any](b uint64) T {
	return *(*T)(unsafe.Pointer(&b)) // a T is no larger than b
}

// isWord reports whether a T is moved as one word.
func isWord[T any]() bool {
	n := sizeof[T]()
	return n <= 8 && n&(n-1) == 0 && n == alignof[T]()
}

// loadWord loads a T untorn. Below 32 bits Go has no atomic load: there the
// aligned 32-bit word around it is read.
func loadWord[T any](p unsafe.Pointer) T {
	var b uint64
	if sizeof[T]() == 8 {
		b = atomic.LoadUint64((*uint64)(p))
	} else {
		// At most 3 bytes down, in the same segment.
		b = uint64(atomic.LoadUint32((*uint32)(unsafe.Pointer(uintptr(p)&^3))) >> (uintptr(p) & 3 * 8))
	}
	return *(*T)(unsafe.Pointer(&b)) // a T is no larger than b
}

// casWord replaces old by v if the word at p still has old's bits.
func casWord[T any](p unsafe.Pointer, old, v T) bool {
	if unsafe.Sizeof(v) != 8 {
		return casSmall(p, old, v)
	}
	return atomic.CompareAndSwapUint64((*uint64)(p), *(*uint64)(unsafe.Pointer(&old)), *(*uint64)(unsafe.Pointer(&v))) // both have 8 bytes
}

// casSmall is casWord for up to 32 bits, through the aligned 32-bit word around.
//
//go:noinline
func casSmall[T any](p unsafe.Pointer, old, v T) bool {
	w := (*uint32)(unsafe.Pointer(uintptr(p) &^ 3)) // at most 3 bytes down, in the same segment
	o, n := uint32(bits(old)), uint32(bits(v))
	if sizeof[T]() == 4 {
		return atomic.CompareAndSwapUint32(w, o, n)
	}
	shift := uint32(uintptr(p) & 3 * 8)
	mask := uint32(1<<(8*sizeof[T]())-1) << shift
	for {
		all := atomic.LoadUint32(w)
		if all&mask != o<<shift {
			return false
		}
		if atomic.CompareAndSwapUint32(w, all, all&^mask|n<<shift) {
			return true
		}
	}
}

// swapWord stores v and returns what the word held.
func swapWord[T any](p unsafe.Pointer, v T) T {
	if unsafe.Sizeof(v) != 8 {
		return swapSmall(p, v)
	}
	b := atomic.SwapUint64((*uint64)(p), *(*uint64)(unsafe.Pointer(&v))) // v has 8 bytes
	return *(*T)(unsafe.Pointer(&b))
}

//go:noinline
func swapSmall[T any](p unsafe.Pointer, v T) T {
	if sizeof[T]() == 4 {
		return fromBits[T](uint64(atomic.SwapUint32((*uint32)(p), uint32(bits(v)))))
	}
	for {
		if old := loadWord[T](p); casWord(p, old, v) {
			return old
		}
	}
}

// isInteger64 reports whether a T is an integer of 64 bits.
func isInteger64[T Scalar]() bool { return sizeof[T]() == 8 && T(1)/2 == 0 }

// add64 adds v, an integer of 64 bits, and returns what the word held before.
func add64[T Scalar](p unsafe.Pointer, v T) T {
	b := *(*uint64)(unsafe.Pointer(&v)) // v has 8 bytes
	b = atomic.AddUint64((*uint64)(p), b) - b
	return *(*T)(unsafe.Pointer(&b))
}

// addOther is add64 for everything else: verbs have add64 inlined.
//
//go:noinline
func addOther[T Scalar](p unsafe.Pointer, v T) T {
	if sizeof[T]() == 4 && T(1)/2 == 0 {
		b := uint32(bits(v))
		return fromBits[T](uint64(atomic.AddUint32((*uint32)(p), b) - b))
	}
	for {
		if old := loadWord[T](p); casWord(p, old, old+v) {
			return old
		}
	}
}

// andWord combines by and, and returns what the word held before.
func andWord[T Integer](p unsafe.Pointer, v T) T {
	switch sizeof[T]() {
	case 8:
		return T(atomic.AndUint64((*uint64)(p), uint64(v)))
	case 4:
		return T(atomic.AndUint32((*uint32)(p), uint32(v)))
	}
	for {
		if old := loadWord[T](p); casWord(p, old, old&v) {
			return old
		}
	}
}

// orWord combines by or, and returns what the word held before.
func orWord[T Integer](p unsafe.Pointer, v T) T {
	switch sizeof[T]() {
	case 8:
		return T(atomic.OrUint64((*uint64)(p), uint64(v)))
	case 4:
		return T(atomic.OrUint32((*uint32)(p), uint32(v)))
	}
	for {
		if old := loadWord[T](p); casWord(p, old, old|v) {
			return old
		}
	}
}

// xorWord combines by exclusive or, and returns what the word held before. Go
// has no instruction for it.
func xorWord[T Integer](p unsafe.Pointer, v T) T {
	for {
		if old := loadWord[T](p); casWord(p, old, old^v) {
			return old
		}
	}
}

// copyStrided copies n blocks of block elements; the distances between blocks
// are ds and ss elements. Bounds have been checked by the caller.
func copyStrided[T any](dst, src unsafe.Pointer, ds, ss, block, n int) {
	da, sa := uintptr(ds)*sizeof[T](), uintptr(ss)*sizeof[T]()
	if block != 1 {
		for ; n > 0; n-- {
			copy(span[T](dst, block), span[T](src, block))
			dst, src = unsafe.Add(dst, da), unsafe.Add(src, sa) // past the last block only after its use
		}
		return
	}
	var d, s uintptr
	for ; n >= 4; n -= 4 { // four at a time: 1,024 elements in 0.33 µs against 0.46
		*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, s))
		*(*T)(unsafe.Add(dst, d+da)) = *(*T)(unsafe.Add(src, s+sa))
		*(*T)(unsafe.Add(dst, d+2*da)) = *(*T)(unsafe.Add(src, s+2*sa))
		*(*T)(unsafe.Add(dst, d+3*da)) = *(*T)(unsafe.Add(src, s+3*sa))
		d, s = d+4*da, s+4*sa
	}
	for ; n > 0; n-- {
		*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, s))
		d, s = d+da, s+sa
	}
}

// address returns where a slice's elements lie.
func address[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// pointer is the address of near memory, for files that only pass it on.
type pointer = unsafe.Pointer
