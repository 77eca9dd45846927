// SPDX-License-Identifier: BSD-3-Clause

// Package symheap keeps the symmetric heap: the same object at the same
// offset on every PE.
//
// Its two halves know nothing of each other. A [Heap] hands out offsets; it
// touches no memory, and because it is deterministic, PEs that make the same
// calls get the same offsets without a word between them. A [Window] turns a
// PE and an offset into an address where loads and stores reach, and is the
// way to the fabric's endpoint where they do not.
//
// The package names no provider and starts no process: it works on whatever
// fabric.Domain it is given.
package symheap
