// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "github.com/goshmem/goshmem/collectives"

// SumReduce stores, in every PE's dst, the element-wise sum of the src of all
// PEs of the team:
//
//	dst[i] = src[i] on PE 0 + src[i] on PE 1 + …
//
// The count is src.Len(), the same on every PE. dst and src are the same object
// or do not overlap. On return the own dst is complete and src may be reused;
// others may still be inside.
//
// Integers wrap. The order of floating-point additions is not the one above, but
// it is fixed by the team and the count: all PEs get the same bits, and so does
// the next run. A sum of a NaN is one.
//
// SumReduce panics if dst or src is zero or freed, if dst is shorter than src,
// or on a mismatch. OpenSHMEM 1.6, 9.10.9 (shmem_sum_reduce).
func SumReduce[T Numeric](team *Team, dst, src Sym[T]) {
	a := reduction("SumReduce", team, dst, src)
	team.done("SumReduce", collectives.SumReduce[T](team.enter("SumReduce"), a))
}

// ProdReduce is [SumReduce] with the element-wise product:
//
//	dst[i] = src[i] on PE 0 · src[i] on PE 1 · …
//
// ProdReduce panics as SumReduce does. OpenSHMEM 1.6, 9.10.9 (shmem_prod_reduce).
func ProdReduce[T Numeric](team *Team, dst, src Sym[T]) {
	a := reduction("ProdReduce", team, dst, src)
	team.done("ProdReduce", collectives.ProdReduce[T](team.enter("ProdReduce"), a))
}

// MaxReduce is [SumReduce] with the element-wise greatest:
//
//	dst[i] = max(src[i] on PE 0, src[i] on PE 1, …)
//
// Of a number and a NaN the result is the number, as with [AtomicMax]: NaN is that
// of NaNs alone. +0 is greater than -0.
//
// MaxReduce panics as SumReduce does. OpenSHMEM 1.6, 9.10.9 (shmem_max_reduce).
func MaxReduce[T Ordered](team *Team, dst, src Sym[T]) {
	a := reduction("MaxReduce", team, dst, src)
	team.done("MaxReduce", collectives.MaxReduce[T](team.enter("MaxReduce"), a))
}

// MinReduce is [SumReduce] with the element-wise least:
//
//	dst[i] = min(src[i] on PE 0, src[i] on PE 1, …)
//
// Of a number and a NaN the result is the number, as with [AtomicMin]: NaN is that
// of NaNs alone. +0 is greater than -0.
//
// MinReduce panics as SumReduce does. OpenSHMEM 1.6, 9.10.9 (shmem_min_reduce).
func MinReduce[T Ordered](team *Team, dst, src Sym[T]) {
	a := reduction("MinReduce", team, dst, src)
	team.done("MinReduce", collectives.MinReduce[T](team.enter("MinReduce"), a))
}

// AndReduce is [SumReduce] with the element-wise bitwise and:
//
//	dst[i] = src[i] on PE 0 & src[i] on PE 1 & …
//
// AndReduce panics as SumReduce does. OpenSHMEM 1.6, 9.10.9 (shmem_and_reduce).
func AndReduce[T Bitwise](team *Team, dst, src Sym[T]) {
	a := reduction("AndReduce", team, dst, src)
	team.done("AndReduce", collectives.AndReduce[T](team.enter("AndReduce"), a))
}

// OrReduce is [SumReduce] with the element-wise bitwise or:
//
//	dst[i] = src[i] on PE 0 | src[i] on PE 1 | …
//
// OrReduce panics as SumReduce does. OpenSHMEM 1.6, 9.10.9 (shmem_or_reduce).
func OrReduce[T Bitwise](team *Team, dst, src Sym[T]) {
	a := reduction("OrReduce", team, dst, src)
	team.done("OrReduce", collectives.OrReduce[T](team.enter("OrReduce"), a))
}

// XorReduce is [SumReduce] with the element-wise bitwise exclusive or:
//
//	dst[i] = src[i] on PE 0 ^ src[i] on PE 1 ^ …
//
// XorReduce panics as SumReduce does. OpenSHMEM 1.6, 9.10.9 (shmem_xor_reduce).
func XorReduce[T Bitwise](team *Team, dst, src Sym[T]) {
	a := reduction("XorReduce", team, dst, src)
	team.done("XorReduce", collectives.XorReduce[T](team.enter("XorReduce"), a))
}

// SumInclusiveScan stores, in the dst of the team's PE j, the element-wise sum of
// the src of PEs 0 to j:
//
//	dst[i] = src[i] on PE 0 + … + src[i] on PE j
//
// Counts, overlap, completion, rounding and misuse are SumReduce's. OpenSHMEM
// 1.6, 9.10.10 (shmem_sum_inscan).
func SumInclusiveScan[T Numeric](team *Team, dst, src Sym[T]) {
	a := reduction("SumInclusiveScan", team, dst, src)
	team.done("SumInclusiveScan", collectives.SumInclusiveScan[T](team.enter("SumInclusiveScan"), a))
}

// SumExclusiveScan stores, in the dst of the team's PE j, the element-wise sum of
// the src of PEs 0 to j-1; zeroes on PE 0.
//
// Counts, overlap, completion, rounding and misuse are SumReduce's. OpenSHMEM
// 1.6, 9.10.10 (shmem_sum_exscan).
func SumExclusiveScan[T Numeric](team *Team, dst, src Sym[T]) {
	a := reduction("SumExclusiveScan", team, dst, src)
	team.done("SumExclusiveScan", collectives.SumExclusiveScan[T](team.enter("SumExclusiveScan"), a))
}

// SumReduceScatter stores, in the dst of the team's PE j, block j of the
// element-wise sum of all PEs' src. A block is src.Len()/NPEs elements, the same
// on every PE. dst and src do not overlap. Completion and rounding are
// SumReduce's.
//
// SumReduceScatter panics if dst or src is zero or freed, if src.Len() is not a
// multiple of NPEs or dst is shorter than a block, or on a mismatch. Beyond
// OpenSHMEM 1.6.
func SumReduceScatter[T Numeric](team *Team, dst, src Sym[T]) {
	a := scattering("SumReduceScatter", team, dst, src)
	team.done("SumReduceScatter", collectives.SumReduceScatter[T](team.enter("SumReduceScatter"), a))
}

// MaxReduceScatter is [SumReduceScatter] with the greatest, as [MaxReduce] has it.
// Beyond OpenSHMEM 1.6.
func MaxReduceScatter[T Ordered](team *Team, dst, src Sym[T]) {
	a := scattering("MaxReduceScatter", team, dst, src)
	team.done("MaxReduceScatter", collectives.MaxReduceScatter[T](team.enter("MaxReduceScatter"), a))
}

// MinReduceScatter is [SumReduceScatter] with the least, as [MinReduce] has it.
// Beyond OpenSHMEM 1.6.
func MinReduceScatter[T Ordered](team *Team, dst, src Sym[T]) {
	a := scattering("MinReduceScatter", team, dst, src)
	team.done("MinReduceScatter", collectives.MinReduceScatter[T](team.enter("MinReduceScatter"), a))
}

// reduction checks the arguments of a reduction or a scan.
func reduction[T any](op string, team *Team, dst, src Sym[T]) collectives.Array {
	checkCollective(op, team, dst, src, src.n)
	return collectives.Array{Dst: dst.off, Src: src.off, N: src.n, Type: kindOf[T]()}
}

// scattering checks the arguments of a reduce-scatter.
func scattering[T any](op string, team *Team, dst, src Sym[T]) collectives.Array {
	team.check(op)
	n := blockOf(op, team, src)
	checkCollective(op, team, dst, src, n)
	return collectives.Array{Dst: dst.off, Src: src.off, N: n, Type: kindOf[T]()}
}

// blockOf returns how many elements of src each PE of the team, which was checked, has a
// part in.
func blockOf[T any](op string, team *Team, src Sym[T]) int {
	if src.n%team.NPEs() != 0 {
		src.refuse(op, -1, "%d elements do not divide into %d equal blocks", src.n, team.NPEs())
	}
	return src.n / team.NPEs()
}
