// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"sync/atomic"
	"unsafe"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/spin"
)

// pointer is the address of an aligned word of a near segment. All functions
// here rely on it: a group's words lie at multiples of 8 within GroupSize
// bytes, and segments stay mapped.
type pointer = unsafe.Pointer

// live is the mask of an object that is never freed: the group's words.
const live = ^uint(0)

// spinUntil looks at the word at p up to n times for a value of at least v.
func spinUntil(p pointer, v uint64, n int) bool {
	for {
		if atomic.LoadUint64((*uint64)(p)) >= v {
			return true
		}
		if n--; n < 0 {
			return false
		}
		spin.Pause()
	}
}

// addWord adds v to the word at p and returns the sum.
func addWord(p pointer, v uint64) uint64 { return atomic.AddUint64((*uint64)(p), v) }

// storeFenced stores v at p and orders that ahead of everything after it.
func storeFenced(p pointer, v uint64) { atomic.StoreUint64((*uint64)(p), v) }

// loadRelaxed loads the word off bytes behind p.
func loadRelaxed(p pointer, off uintptr) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Add(p, off))) // the next word of the same slot
}

// storeSecond stores v in the word behind that at p. A storeRelease or storeFenced follows.
func storeSecond(p pointer, v uint64) {
	*(*uint64)(unsafe.Add(p, 8)) = v // of the same slot
}

// bytesAt returns the n bytes at off in near PE pe's segment, or nil.
func (g *Group) bytesAt(pe int, off uintptr, n int) []byte {
	p := g.w.Data(pe, off, live)
	if p == nil {
		return nil
	}
	return unsafe.Slice((*byte)(p), n) // callers keep off+n within the segment
}

// ownBytes returns n bytes of the own segment.
func (g *Group) ownBytes(off fabric.Addr, n int) []byte {
	return unsafe.Slice((*byte)(g.w.Own(off)), n) // callers keep off+n within the segment
}

// view reads a buffer as elements, for which it is aligned.
func view[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(sizeof[T]())) // within b; same lifetime
}

// sizeof returns the size of a T in bytes.
func sizeof[T any]() uint32 {
	var zero T
	return uint32(unsafe.Sizeof(zero)) // a constant
}

// near reports whether loads and stores reach member q.
func (g *Group) near(q int) bool { return g.w.Data(q, g.off, live) != nil }
