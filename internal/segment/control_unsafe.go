// SPDX-License-Identifier: BSD-3-Clause

package segment

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// line is two cache lines: neighbours are fetched in pairs.
const line = 128

// A Control is a mapped control segment.
type Control struct {
	*words
	status []Status
}

// words is what the header page holds behind the layout.
type words struct {
	_ [2 * line]byte // the encoded layout

	// Sleepers counts the PEs of the node that sleep for words of the heap. Read
	// by every PE at each quiet, written only around a sleep.
	Sleepers atomic.Uint32
	_        [line - 4]byte

	// Resting counts those that sleep for the runtime's own words, as in a
	// barrier. Who works need not look at it: only the runtime changes such words.
	Resting atomic.Uint32
	_       [line - 4]byte

	// Aborted is nonzero once the job is ending.
	Aborted atomic.Uint32
	_       [line - 4]byte

	// Mode asks all PEs of the node for extra work at each operation
	// (tracing, checks). 0: none.
	Mode atomic.Uint32
	_    [line - 4]byte
}

// States of a PE, as its status page says.
const (
	StateNone    = iota // not yet in Init
	StateRunning        // in the user's code
	StateWaiting        // in a wait
	StateDone           // finalized
)

// A Status says what one PE does. The PE writes it, except for Doorbell, when
// it is about to block; anyone may read it at any time.
type Status struct {
	// Doorbell is the futex that the PE sleeps on; whoever wakes it adds one. It shares a line
	// with what that looks at before.
	Doorbell atomic.Uint32

	// Sleeping is nonzero while the PE sleeps or is about to. While it is
	// SleepOne, the Cond words say what for; while SleepAny, any change may end it.
	Sleeping atomic.Uint32
	CondPE   atomic.Uint32
	CondOff  atomic.Uint64
	CondHow  atomic.Uint32 // Cmp | Datatype<<8
	CondVal  atomic.Uint64

	// Turn is where the PE waits for a lock: who comes behind it and whose turn it is, as
	// package shmem lays it out. Others write it too. It is here and not in a segment, so that the
	// words of PEs in line lie on few pages.
	Turn atomic.Uint64
	_    [line - 48]byte

	State atomic.Uint32
	PID   atomic.Uint32
	Since atomic.Int64 // Unix nanoseconds
	_     [line - 16]byte

	// Core is one more than the number of the core that the PE was on when it last gave way to
	// others, where PEs outnumber cores; 0 before.
	Core atomic.Uint32
	_    [statusSize - 2*line - 4]byte
}

// Values of Status.Sleeping.
const (
	Awake = iota
	SleepOne
	SleepAny
)

// MapControl reads mem, the start of a mapped file, as the control segment of l.
func MapControl(mem []byte, l Layout) (Control, error) {
	if uintptr(len(mem)) < l.ControlSize() {
		return Control{}, fmt.Errorf("segment: %d bytes mapped, the control segment has %d", len(mem), l.ControlSize())
	}
	p := unsafe.Pointer(unsafe.SliceData(mem))
	return Control{
		// In bounds: ControlSize covers the header page and PEs status pages, as checked above;
		// alive: the mapping stays until the process ends.
		words:  (*words)(p),
		status: unsafe.Slice((*Status)(unsafe.Add(p, headerSize)), l.PEs),
	}, nil
}

// Status returns the status page of the node's i-th PE.
func (c Control) Status(i int) *Status { return &c.status[i] }

// TurnOffset returns where in the file the Turn of the node's i-th PE is.
func TurnOffset(i int) uintptr {
	return headerSize + uintptr(i)*statusSize + unsafe.Offsetof(Status{}.Turn)
}

// SleepersWord returns the address of Sleepers, for direct loads.
func (c Control) SleepersWord() *uint32 { return Word(&c.Sleepers) }

// Word returns the address of a word of the segment, for those who have it from C
// or as a plain one.
func Word(w *atomic.Uint32) *uint32 {
	// A Uint32 is one uint32 behind zero-size markers.
	return (*uint32)(unsafe.Pointer(w))
}

const (
	_ = -(unsafe.Sizeof(words{}) / (headerSize + 1)) // the words fit the header page
	_ = uint(statusSize-unsafe.Sizeof(Status{})) +   // a status page has
		uint(unsafe.Sizeof(Status{})-statusSize) // exactly statusSize bytes
)
