// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"math"

	"github.com/goshmem/goshmem/collectives"
)

// Collect puts all PEs' src one after the other, in the order of PEs, in every
// PE's dst. The count is src.Len(), on each PE its own; it may be 0. Completion is
// [Broadcast]'s. dst and src do not overlap.
//
// Collect panics if dst or src is zero or freed, on every PE if some dst has fewer
// elements than all src together, or on a mismatch. OpenSHMEM 1.6, 9.10.8
// (shmem_collect).
func Collect[T any](team *Team, dst, src Sym[T]) {
	checkCollective("Collect", team, dst, src, 0)
	team.done("Collect", collectives.Collect(team.enter("Collect"), dst.off, src.off, uint32(sizeof[T]()), src.n, dst.n))
}

// AllToAllStrided is [AllToAll] of elements with gaps between them: n elements of
// every PE's src, srcStride elements apart, go to every PE's dst, where they lie
// dstStride apart:
//
//	dst[(i·n+k)·dstStride] on PE j = src[(j·n+k)·srcStride] on PE i, for k in [0, n)
//
// Counts and strides are the same on every PE; strides are at least 1. Completion is
// Broadcast's. dst and src do not overlap.
//
// AllToAllStrided panics if dst or src is zero, freed or too short, if a stride is
// less than 1 or n negative, or on a mismatch. OpenSHMEM 1.6, 9.10.6
// (shmem_alltoalls).
func AllToAllStrided[T any](team *Team, dst, src Sym[T], dstStride, srcStride, n int) {
	const op = "AllToAllStrided"
	checkCollective(op, team, dst, src, 0)
	if dstStride < 1 || srcStride < 1 || n < 0 {
		src.refuse(op, -1, "strides %d and %d, %d elements a PE: strides are at least 1, and the number is not negative", dstStride, srcStride, n)
	}
	dst.check(op, extent(team, dstStride, n), 0)
	src.check(op, extent(team, srcStride, n), 0)
	team.done(op, collectives.AllToAllStrided(team.enter(op), dst.off, src.off, uint32(sizeof[T]()), dstStride, srcStride, n))
}

// extent returns how many elements n strided ones for each PE reach over.
func extent(team *Team, stride, n int) int {
	if n == 0 {
		return 0
	}
	if all := n * team.NPEs(); n <= math.MaxInt32 && stride <= (math.MaxInt-1)/all {
		return (all-1)*stride + 1
	}
	return math.MaxInt
}

// AllToAllV gives counts[j] elements of PE i's src to PE j, where what the PEs
// give lies one after the other, in their order, at the beginning of dst. In src
// what is for PE 0 comes first, then what is for PE 1, and so on. counts has NPEs
// elements, each PE its own. received, unless nil, has NPEs elements too and gets
// how many each PE gave. Completion is Broadcast's, for counts too. No two objects
// overlap.
//
// AllToAllV panics if an object is zero or freed, if counts or received has another
// length than NPEs, if a count is negative or src has fewer elements than are to be given,
// on every PE if some dst has too few for what arrives, or on a mismatch. Beyond
// OpenSHMEM 1.6.
func AllToAllV[T any](team *Team, dst, src Sym[T], counts Sym[int64], received []int) {
	const op = "AllToAllV"
	checkCollective(op, team, dst, src, 0)
	counts.check(op, team.NPEs(), 0)
	if counts.n != team.NPEs() || received != nil && len(received) != team.NPEs() {
		counts.refuse(op, -1, "there are counts for %d PEs and room for those of %d: the team has %d", counts.n, len(received), team.NPEs())
	}
	left := int64(src.n)
	for j, n := range counts.Local() {
		if n < 0 || n > left {
			src.refuse(op, j, "%d elements are to be given, %d are left", n, left)
		}
		left -= n
	}
	team.done(op, collectives.AllToAllV(team.enter(op), dst.off, src.off, counts.off, uint32(sizeof[T]()), dst.n, received))
}
