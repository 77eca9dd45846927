// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

// #include "shim.h"
import "C"

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	maxSmall = C.SHIM_SMALL              // bytes of a put in a batch, at most
	headSize = C.sizeof_struct_shim_head // bytes of an acknowledgement
	noBuffer = -C.FI_ENOSPC              // what began a batch that there is no buffer for
)

// A cbox is the C side of a box. It stays until the endpoint's stream is freed.
type cbox struct{ c *C.struct_shim_box }

// box returns a new one for the PE that control is a word of.
func (s stream) box(addr, token uint64, control target) (*box, error) {
	c := C.shim_box_new(s.c, C.fi_addr_t(addr), C.uint64_t(token), control.c())
	if c == nil {
		return nil, syscall.ENOMEM
	}
	return &box{cbox: cbox{c}}, nil
}

func (s stream) endBoxes() { C.shim_boxes_end(s.c) }

// lock takes the lock, which nobody holds for long: what holds it may have lost its processor, though.
func (b cbox) lock() {
	word := (*uint32)(unsafe.Pointer(&b.c.lock)) // C memory, as promised
	for i := 1; !atomic.CompareAndSwapUint32(word, 0, 1); i++ {
		if i%64 == 0 {
			time.Sleep(20 * time.Microsecond)
		} else {
			runtime.Gosched()
		}
	}
}

func (b cbox) unlock() { atomic.StoreUint32((*uint32)(unsafe.Pointer(&b.c.lock)), 0) } // likewise

// linked reports whether there may be records.
func (b cbox) linked() bool {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&b.c.linked))) != 0 // likewise
}

// link reports whether the box is not in the domain's list yet, to which it is to be pushed then. The
// caller has the lock, as for what follows.
func (b cbox) link() bool {
	if b.c.linked != 0 {
		return false
	}
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&b.c.linked)), 1) // likewise
	return true
}

// fits reports whether there is room for n bytes more.
func (b *box) fits(n int) bool { return b.c.buffer != nil && int(b.c.used)+n <= b.capacity }

// add appends a record with the bytes of src, padded to 8, for which there is room.
func (b *box) add(word uint64, src []byte) {
	p := b.next(word)
	if len(src) == 8 {
		*(*[8]byte)(p) = [8]byte(src) // in bounds: there is room; C memory
	} else {
		// Likewise. What pads it is of no use to anybody, and nobody's secret: records of this job.
		copy(unsafe.Slice((*byte)(p), len(src)), src)
	}
	b.c.used += C.uint32_t(8 + (len(src)+7)&^7)
}

// addWord appends a record with a word.
func (b *box) addWord(word, v uint64) {
	*(*uint64)(b.next(word)) = v // in bounds, because there is room, and aligned to 8
	b.c.used += 16
}

// next writes a record's first word and returns where its rest goes.
func (b *box) next(word uint64) unsafe.Pointer {
	// In bounds, because there is room, and aligned: records are multiples of 8 bytes.
	p := unsafe.Add(unsafe.Pointer(b.c.buffer), b.c.used)
	*(*uint64)(p) = word
	b.c.records++
	return unsafe.Add(p, 8)
}

// send sends what is there.
func (b cbox) send() int64 { return int64(C.shim_box_close(b.c)) }

// begin gets a buffer: again, noBuffer, or done.
func (b cbox) begin() int64 { return int64(C.shim_box_open(b.c)) }

// wait polls until another batch may begin, for the time of a spin, and reports whether it may.
func (b cbox) wait() bool { return C.shim_box_wait(b.c) == done }

// openMail begins to receive letters that carry the token. Words of the segment, which stays, may be updated
// by CPU instructions if cpu says so.
func (s shim) openMail(segment []byte, cpu bool, token uint64, name []byte) error {
	// The segment is pinned, or mapped for good, as promised; name is copied.
	p := unsafe.Pointer(unsafe.SliceData(segment))
	return errorOf(int64(C.shim_mail_open(s.c, p, C.size_t(len(segment)), C.bool(cpu), C.uint64_t(token), bytesOf(name), C.size_t(len(name)))))
}

func (s shim) startFlusher() error { return errorOf(int64(C.shim_flusher_start(s.c))) }

// capacity returns how many bytes of records a batch has room for.
func (s shim) capacity() int { return bounceSize - int(s.c.mail.lead) }

// dirty reports whether something is collected.
func (s shim) dirty() bool {
	// A pointer to C memory, in C memory that stays as long as the domain.
	return atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&s.c.mail.dirty))) != nil
}

func (s shim) flush() { C.shim_flush(s.c) }

// push puts a box in the list of those with records, and reports whether the flusher sleeps.
func (s shim) push(b cbox) (asleep bool) {
	// Pointers to C memory, in C memory: Go's collector has nothing to do with them.
	head := (*unsafe.Pointer)(unsafe.Pointer(&s.c.mail.dirty))
	for {
		old := atomic.LoadPointer(head)
		b.c.dirty = (*C.struct_shim_box)(old)
		if atomic.CompareAndSwapPointer(head, old, unsafe.Pointer(b.c)) {
			return atomic.LoadUint32((*uint32)(unsafe.Pointer(&s.c.mail.asleep))) != 0
		}
	}
}

func (s shim) wakeFlusher() { C.shim_flusher_wake(s.c) }

// records carries out records as if they had come in a letter. It returns how many bytes made sense, or -1: all
// did.
func (s shim) records(b []byte) int {
	ret := C.shim_records(s.c, bytesOf(b), C.size_t(len(b)))
	return -1 - int(ret)
}
