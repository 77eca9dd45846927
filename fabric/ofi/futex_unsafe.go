// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexOpWait       = 0 | 128 // FUTEX_WAIT, private to the process
	futexOpWake       = 1 | 128 // FUTEX_WAKE, likewise
	futexOpWakeShared = 1       // FUTEX_WAKE
)

// futexWait sleeps until word is woken, or for d, or not at all if word is not
// val any more. It may return early; callers look again.
//
// Syscall6, never RawSyscall6: a thread that blocks unseen by Go's scheduler
// holds up garbage collection for as long.
func futexWait(word *atomic.Uint32, val uint32, d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	// The kernel reads both during the call only; word lives as long as the domain, ts is on this stack.
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWait, uintptr(val), uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// futexWake wakes who sleeps on word. It does not block.
func futexWake(word *atomic.Uint32) {
	// As in futexWait.
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWake, 1, 0, 0, 0)
}

// ringShared wakes who sleeps on a doorbell that processes share.
func ringShared(doorbell *uint32) {
	atomic.AddUint32(doorbell, 1)
	// As in futexWait.
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(doorbell)), futexOpWakeShared, 1, 0, 0, 0)
}
