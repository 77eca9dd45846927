// SPDX-License-Identifier: BSD-3-Clause

// Package joint makes one fabric of two: near PEs are reached through memory, far
// ones over the network.
//
// A joint domain is on a segment that near PEs have mapped and that is registered with the
// network too. Its endpoints send each operation where its target is; Fence and
// Quiet order and complete on both. Its waits are the near domain's: they poll the
// network while they are awake, and the network rings their doorbell while they
// sleep.
//
// All atomics on one word must be done by one actor. Where the network executes them
// by CPU instructions on the target, those to near PEs are CPU instructions too.
// Where it does not, or its word is not taken for it, all atomics go through the network, those to
// near PEs and to the own one included.
//
// A joint domain can be told to keep off the shared memory: then every transfer goes through
// the network, also among PEs of one node, so that one machine can test what a
// cluster will do.
package joint
