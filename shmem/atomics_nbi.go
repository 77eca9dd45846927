// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "github.com/goshmem/goshmem/fabric"

// The non-blocking fetching atomics store the old value in *result by Quiet at
// the latest; until then *result must not be used. The update itself is ordered
// by Fence. They panic as the blocking ones do. OpenSHMEM 1.6, 9.7.2.

// AtomicFetchNBI is AtomicFetch with the value in *result after Quiet.
func AtomicFetchNBI[T Scalar](result *T, x Sym[T], target int) {
	if isNear(result, x, target) {
		*result = AtomicFetch(x, target)
		return
	}
	fetchNBISlow("AtomicFetchNBI", result, x, fabric.OpRead, 0, 0, target)
}

// AtomicSwapNBI is AtomicSwap with the old value in *result after Quiet.
func AtomicSwapNBI[T Scalar](result *T, x Sym[T], v T, target int) {
	if isNear(result, x, target) {
		*result = AtomicSwap(x, v, target)
		return
	}
	fetchNBISlow("AtomicSwapNBI", result, x, fabric.OpWrite, bits(v), 0, target)
}

// AtomicCompareSwapNBI is AtomicCompareSwap with the old value in *result
// after Quiet.
func AtomicCompareSwapNBI[T Integer](result *T, x Sym[T], cond, v T, target int) {
	if isNear(result, x, target) {
		*result = AtomicCompareSwap(x, cond, v, target)
		return
	}
	fetchNBISlow("AtomicCompareSwapNBI", result, x, fabric.OpCswap, bits(v), bits(cond), target)
}

// AtomicFetchAddNBI is AtomicFetchAdd with the old value in *result after Quiet.
func AtomicFetchAddNBI[T Scalar](result *T, x Sym[T], v T, target int) {
	if isNear(result, x, target) {
		*result = AtomicFetchAdd(x, v, target)
		return
	}
	fetchNBISlow("AtomicFetchAddNBI", result, x, fabric.OpSum, bits(v), 0, target)
}

// AtomicFetchAndNBI is AtomicFetchAnd with the old value in *result after Quiet.
func AtomicFetchAndNBI[T Bitwise](result *T, x Sym[T], v T, target int) {
	if isNear(result, x, target) {
		*result = AtomicFetchAnd(x, v, target)
		return
	}
	fetchNBISlow("AtomicFetchAndNBI", result, x, fabric.OpBand, bits(v), 0, target)
}

// AtomicFetchOrNBI is AtomicFetchOr with the old value in *result after Quiet.
func AtomicFetchOrNBI[T Bitwise](result *T, x Sym[T], v T, target int) {
	if isNear(result, x, target) {
		*result = AtomicFetchOr(x, v, target)
		return
	}
	fetchNBISlow("AtomicFetchOrNBI", result, x, fabric.OpBor, bits(v), 0, target)
}

// AtomicFetchXorNBI is AtomicFetchXor with the old value in *result after Quiet.
func AtomicFetchXorNBI[T Bitwise](result *T, x Sym[T], v T, target int) {
	if isNear(result, x, target) {
		*result = AtomicFetchXor(x, v, target)
		return
	}
	fetchNBISlow("AtomicFetchXorNBI", result, x, fabric.OpBxor, bits(v), 0, target)
}

// AtomicFetchIncNBI is AtomicFetchInc with the old value in *result after Quiet.
func AtomicFetchIncNBI[T Integer](result *T, x Sym[T], target int) {
	AtomicFetchAddNBI(result, x, 1, target)
}

// isNear reports whether CPU atomics reach x, a valid object of one element,
// and there is a place for the result.
func isNear[T any](result *T, x Sym[T], target int) bool {
	return result != nil && x.n == 1 && x.ctx.word(target, x.off, x.obj.live) != nil
}

//go:noinline
func fetchNBISlow[T Scalar](name string, result *T, x Sym[T], op fabric.Op, v, cmp uint64, target int) {
	x.checkScalar(name, target)
	if result == nil {
		x.refuse(name, target, "the pointer for the result is nil")
	}
	x.ctx.must(name, target, x.ctx.w.Endpoint().FetchAtomicNBI(x.ctx.world(target), op, datatypeOf[T](), x.off, v, cmp, bytesAt(result)))
}
