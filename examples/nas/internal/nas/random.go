// SPDX-License-Identifier: BSD-3-Clause

package nas

// The generator of all kernels is x ← Multiplier·x mod 2^46. Unsigned 64-bit
// multiplication wraps modulo 2^64, which leaves the low 46 bits exact, so a
// state needs its mask only where it is read.
const (
	Multiplier = 1220703125 // 5^13
	StateMask  = 1<<46 - 1
)

// Random is a stream of pseudo-random numbers: the state that the last draw
// left behind. The initial state is the seed, an odd number below 2^46.
type Random uint64

// Next draws a number: it advances the state and returns it scaled to (0, 1).
func (r *Random) Next() float64 {
	x := uint64(*r) * Multiplier & StateMask
	*r = Random(x)
	return float64(int64(x)) * 0x1p-46 // int64 converts faster than uint64, and both exactly
}

// Skipped returns the stream as it is after n more draws, at the cost of 2·log2(n)
// multiplications.
func (r Random) Skipped(n uint64) Random {
	return Random(uint64(r) * Power(n) & StateMask)
}

// Power returns Multiplier to the n modulo 2^46, by square and multiply.
func Power(n uint64) uint64 {
	result, square := uint64(1), uint64(Multiplier)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result *= square
		}
		square *= square
	}
	return result & StateMask
}
