// SPDX-License-Identifier: BSD-3-Clause

// Package shm is the fabric between PEs of one node: one shared file, mapped
// once by each, holding a control segment and all their segments. A put is a
// copy, an atomic a CPU instruction, a wait ends in a futex.
//
// The file comes from the launcher (a memfd, inherited) or from
// package segment, which has its layout. Loads and stores may be used directly on
// every segment of the node; the endpoint here does the same for callers that
// do not, and carries the notes that the race detector needs, because it does
// not see memory outside the Go heap.
//
// # Waiting
//
// A wait looks at its word; then yields the core to other processes, because
// whoever will write the word may need it (and moves to another core if too many PEs share
// this one); then sleeps on its PE's doorbell, a
// futex. A PE that is about to sleep says so in its status page, together with
// the condition it waits for, and counts itself in the node's sleepers word.
// Who changes words reads the sleepers word, nearly always 0 and in everyone's
// cache, and only if it is not 0 looks who sleeps, and rings those whose
// condition holds now.
//
// Stores and the look at the sleepers word are not fenced from each other on
// the fast paths, so a ring may be missed; every sleep therefore ends after
// some milliseconds, and looks again.
package shm
