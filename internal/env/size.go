// SPDX-License-Identifier: BSD-3-Clause

package env

import (
	"fmt"
	"math/big"
	"strings"
)

// ParseSize reads a size in bytes as SHMEM_SYMMETRIC_SIZE gives it: a
// non-negative decimal number, integer or floating point, and an optional
// suffix k, m, g or t in either case, for 2^10, 2^20, 2^30 and 2^40. Only the
// suffix's first character counts; the rest is ignored, so 20M, 20MiB and 20mb
// are the same. A fraction of a byte counts as a whole one.
//
// The result is exact. The error shows s and how a size is written.
//
// OpenSHMEM 1.6, chapter 8.
func ParseSize(s string) (uint64, error) {
	number, suffix := cutNumber(s)
	scale, ok := scaleOf(suffix)
	if number == "" || !ok {
		return 0, sizeError(s, "is not a size")
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(number), "e"); ok && len(exponent) > maxExponent {
		// Three digits say all there is to say of a uint64, and more would
		// make big numbers of any size.
		return 0, sizeError(s, "has an exponent out of range")
	}
	n, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, sizeError(s, "is not a size")
	}
	n.Mul(n, new(big.Rat).SetInt(scale))
	size, rest := new(big.Int).QuoRem(n.Num(), n.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		size.Add(size, big.NewInt(1))
	}
	if !size.IsUint64() {
		return 0, sizeError(s, "is 2^64 bytes or more")
	}
	return size.Uint64(), nil
}

// maxExponent is the length of the longest exponent, its sign included.
const maxExponent = 4

func sizeError(s, problem string) error {
	return fmt.Errorf("%.64q %s; sizes are numbers of bytes with an optional suffix k, m, g or t, such as 268435456, 256M or 1.5g", s, problem)
}

// cutNumber splits s behind the longest number that it starts with: digits,
// at most one point among or around them, and an exponent.
func cutNumber(s string) (number, suffix string) {
	n := digits(s)
	mantissa := n
	if n < len(s) && s[n] == '.' {
		fraction := digits(s[n+1:])
		mantissa += fraction
		n += 1 + fraction
	}
	if mantissa == 0 {
		return "", s
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		e := n + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if d := digits(s[e:]); d > 0 {
			n = e + d
		}
	}
	return s[:n], s[n:]
}

// digits returns how many decimal digits s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// scaleOf returns what a suffix multiplies by.
func scaleOf(suffix string) (scale *big.Int, ok bool) {
	if suffix == "" {
		return big.NewInt(1), true
	}
	power := strings.IndexByte("kmgt", suffix[0]|0x20) // in lower case
	if power < 0 {
		return nil, false
	}
	return big.NewInt(1 << (10 * (power + 1))), true
}
