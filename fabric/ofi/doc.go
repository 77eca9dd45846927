// SPDX-License-Identifier: BSD-3-Clause

// Package ofi is the fabric between PEs of different nodes: libfabric, by cgo. A
// put is fi_write, a get fi_read, an atomic fi_atomic and its kin.
//
// It is built with the tag ofi, by cgo, on Linux, and needs libfabric 1.17 or
// newer with its headers (Debian: libfabric-dev). Built otherwise the package has
// the same functions, which say what is missing.
//
// # Completion
//
// Every operation asks for FI_DELIVERY_COMPLETE and a completion, and carries a
// record by which the completion is traced back: who waits for it, or in which
// epoch of its endpoint it is counted. Quiet closes the epoch and waits for it
// and the older ones alone, so neither later operations nor other endpoints delay
// it. A failure is kept with the number of its PE for the next Quiet.
//
// Small puts go out with FI_INJECT, middling ones from a buffer of ours, and big
// ones from their place, waited for. Non-blocking operations on Go memory pin it
// until Quiet. An operation that the end of the job cuts short leaves its memory
// pinned until the domain is closed: the provider may still write to it.
//
// # Progress
//
// Calls poll for their own completion for a bounded time, in C, in the same
// crossing that posted the operation. What is not complete by then is waited for
// in Go: one goroutine of the domain sleeps on a futex for all that wait. A
// thread of the domain drives progress for them, and for PEs that compute or
// sleep: it sleeps on the provider's file descriptor, polls when there is
// something to do, and rings the futex. While calls poll, it stands back.
//
// # Trust
//
// The memory that a PE registers can be read and written by whoever knows its key
// and reaches its endpoint. Keys are random where the provider takes ours. Ranges
// are checked before they are posted.
package ofi
