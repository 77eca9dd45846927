// SPDX-License-Identifier: BSD-3-Clause

// Package loop is the fabric whose PEs are goroutines of one process.
//
// It exists for tests. Segments are Go memory and every operation is carried
// out by a goroutine of its own, the NIC, so that the race detector sees a
// program of many PEs as it sees one of many goroutines: a put is a write by
// someone else, ordered before nothing but what the fabric's rules order it
// before. What the package itself locks is hidden from the detector (package
// internal/race); the edges that a program may rely on are
//
//   - from issuing an operation to its delivery;
//   - from a delivery to the return of that endpoint's next Quiet, and of a
//     blocking operation to its own return;
//   - from deliveries before a Fence to those after it on the same endpoint
//     and PE, and from PutSignal's data to its signal;
//   - from an update of a word (by PutWord, an atomic, a signal, or a Put of at
//     most 64 bytes) to a Wait for that word that returns after it;
//   - from an atomic to one that finds its result;
//   - from Wake to the waits of the PE that it woke.
//
// Deliveries can be delayed, and so reordered, by a seed; puts can be cut into
// pieces; operations can be lost and orders ignored ([Faults]). All blocking is
// on channels. In a testing/synctest bubble delays therefore pass at once, a
// deadlock is found when it happens, and a seed reproduces a run exactly as
// long as each endpoint is used by one goroutine: no two operations are ever
// delivered at the same instant, and what they meet depends on nothing else.
package loop
