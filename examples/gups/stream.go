// SPDX-License-Identifier: BSD-3-Clause

package main

import "math/bits"

// The stream of updates is x, x², x³, … in the polynomials over GF(2) modulo
// x^64 + x^2 + x + 1, whose 64 coefficients are the bits of a word.
const polynomial = 1<<2 | 1<<1 | 1<<0 // what x^64 leaves

// step multiplies v by x.
func step(v uint64) uint64 {
	return v<<1 ^ uint64(int64(v)>>63)&polynomial
}

// streamAt returns x to the n: the value that n steps from 1 lead to. It takes
// 64·log2(n) operations, by square and multiply.
func streamAt(n uint64) uint64 {
	var squares [64]uint64 // of x^0, x^1, …: squaring is linear over GF(2)
	s := uint64(1)
	for i := range squares {
		squares[i] = s
		s = step(step(s))
	}
	v := uint64(1)
	for i := bits.Len64(n) - 1; i >= 0; i-- {
		square := uint64(0)
		for rest := v; rest != 0; rest &= rest - 1 {
			square ^= squares[bits.TrailingZeros64(rest)]
		}
		v = square
		if n>>uint(i)&1 == 1 {
			v = step(v)
		}
	}
	return v
}
