// SPDX-License-Identifier: BSD-3-Clause

// Package race tells Go's race detector what the runtime's memory operations
// order, and hides from it what they do not.
//
// PEs synchronise through memory in ways the detector can't see (mapped
// segments, futexes) or must not believe: a lock inside the runtime orders two
// PEs by accident, and a program that forgot its Fence would pass. So the
// runtime's own synchronisation runs between [Disable] and [Enable], its state
// is touched in functions marked go:norace, and the edges that a program may
// rely on are stated by a [Token]: what happens before a Release happens before
// what follows the Acquire that comes after it.
//
// The detector follows Go memory only and ignores notes on anything else;
// tokens are Go-heap words that stand for words of mapped memory.
//
// Without the race build tag all of it is empty and inlines away.
package race
