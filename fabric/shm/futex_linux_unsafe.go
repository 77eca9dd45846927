// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package shm

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexOpWait = 0 // FUTEX_WAIT, shared between processes
	futexOpWake = 1 // FUTEX_WAKE
)

// futexWait sleeps until word is woken, or for d, or not at all if word is not
// val any more. It may return early; callers look again.
//
// Go's scheduler takes the processor away from a thread that sleeps so, and gives it back
// afterwards: other goroutines and garbage collection go on.
func futexWait(word *atomic.Uint32, val uint32, d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	// The kernel reads both during the call only; word is mapped for good, ts is on this stack.
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWait, uintptr(val), uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// futexNap is futexWait on a processor that it keeps. It saves what giving a processor
// back costs where a PE has but one: four more futex calls, by the thread of the runtime that finds
// it blocked. But no other goroutine of the PE runs meanwhile, unless it has another
// processor: only for a d that others can bear, and with a Gosched before the next one.
// Garbage collection interrupts it by a signal.
func futexNap(word *atomic.Uint32, val uint32, d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	// As in futexWait.
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWait, uintptr(val), uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// futexWake wakes who sleeps on word. It does not block.
func futexWake(word *atomic.Uint32) {
	// As in futexWait.
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWake, 1, 0, 0, 0)
}
