// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "unsafe"

// At returns element i as a symmetric object of one element. It panics if i is
// not in [0, x.Len()).
func (x Sym[T]) At(i int) Sym[T] {
	if uint(i) >= uint(x.n) {
		panic(&Error{Op: "At", at: badIndex{x.ctx, x.off, i, i + 1, x.n}}) // a call here would keep At from being inlined
	}
	var zero T
	x.off += uintptr(i) * unsafe.Sizeof(zero)
	x.n = 1
	return x
}

// Slice returns elements i to j-1 as a symmetric object. It panics unless
// 0 <= i <= j <= x.Len().
func (x Sym[T]) Slice(i, j int) Sym[T] {
	if uint(i) > uint(j) || uint(j) > uint(x.n) {
		panic(&Error{Op: "Slice", at: badIndex{x.ctx, x.off, i, j, x.n}}) // as in At
	}
	var zero T
	x.off += uintptr(i) * unsafe.Sizeof(zero)
	x.n = j - i
	return x
}
