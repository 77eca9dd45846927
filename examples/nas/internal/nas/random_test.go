// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"math"
	"math/big"
	"testing"
)

// The slow reference: x ← 5^13·x mod 2^46 in integers of any size.
func TestRandom_IsTheRecurrence(t *testing.T) {
	a, modulus := big.NewInt(Multiplier), new(big.Int).Lsh(big.NewInt(1), 46)
	x := big.NewInt(271828183)
	stream := Random(271828183)
	for i := range 1000 {
		x.Mul(x, a).Mod(x, modulus)
		got := stream.Next()
		want := math.Ldexp(float64(x.Int64()), -46)
		if got != want {
			t.Fatalf("draw %d is %v, want %v", i, got, want)
		}
		if uint64(stream) != x.Uint64() {
			t.Fatalf("state after draw %d is %d, want %d", i, uint64(stream), x)
		}
	}
}

func TestRandom_SkippedIsManyDraws(t *testing.T) {
	stepped := Random(314159265)
	for n := range uint64(300) {
		if got := Random(314159265).Skipped(n); got != stepped {
			t.Fatalf("Skipped(%d) is %d, want %d", n, got, stepped)
		}
		stepped.Next()
	}
}

func TestPower_OfLargeExponents(t *testing.T) {
	modulus := new(big.Int).Lsh(big.NewInt(1), 46)
	for _, n := range []uint64{0, 1, 2, 1 << 17, 1<<37 - 1, 1 << 63, math.MaxUint64} {
		want := new(big.Int).Exp(big.NewInt(Multiplier), new(big.Int).SetUint64(n), modulus).Uint64()
		if got := Power(n); got != want {
			t.Errorf("Power(%d) is %d, want %d", n, got, want)
		}
	}
}
