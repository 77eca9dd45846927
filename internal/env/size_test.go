// SPDX-License-Identifier: BSD-3-Clause

package env

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	tests := []struct {
		in   string
		want uint64
	}{
		{"0", 0},
		{"0t", 0},
		{"1", 1},
		{"010", 10}, // decimal, not octal
		{"268435456", 1 << 28},
		{"1k", 1 << 10},
		{"1K", 1 << 10},
		{"20m", 20 << 20},
		{"20M", 20 << 20},
		{"2g", 2 << 30},
		{"2G", 2 << 30},
		{"3t", 3 << 40},
		{"3T", 3 << 40},

		// Only the first character of the suffix counts.
		{"20kk", 20 << 10},
		{"20KiB", 20 << 10},
		{"20mb", 20 << 20},
		{"1g?!", 1 << 30},

		// Fractions, rounded up.
		{"3.1M", 3250586},
		{"3.1m", 3250586},
		{".5m", 512 << 10},
		{"0.5", 1},
		{".1", 1},
		{"5.", 5},
		{"5.k", 5 << 10},
		{"1.5G", 3 << 29},
		{"1.0000000000000000000001k", 1025},

		// Exponents.
		{"1e3", 1000},
		{"1E3", 1000},
		{"2.5e+1k", 25 << 10},
		{"5e-1k", 512},
		{"1e-999", 1},
		{"0e999", 0},

		// Where float64 would round.
		{"9007199254740993", 1<<53 + 1},
		{"9223372036854775807", 1<<63 - 1},
		{"9223372036854775808", 1 << 63},
		{"18446744073709551615", math.MaxUint64},
		{"16777215.99999999999t", math.MaxUint64 - 9},
	}
	for _, tt := range tests {
		got, err := ParseSize(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", tt.in, got, err, tt.want)
		}
	}
}

func TestParseSize_ErrorShowsTextAndExamples(t *testing.T) {
	for _, in := range []string{
		"", " ", ".", ".k", "k", "abc", "-1", "-1k", "-0", "+1", " 1", "1 ", "1 k", "12x", "1.2.3", "1e", "1e+", "1ek", "e3",
		"0x10", "1_000", "1/2", "inf", "nan", "NaN", "１k",
		// Too large.
		"18446744073709551616", "16777216t", "1e20", "18446744073709551615.5", "1e999", "1e1000000000", "1e-1000000000",
		strings.Repeat("9", 1000),
	} {
		got, err := ParseSize(in)
		if err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", in, got)
			continue
		}
		text := in
		if len(text) > 64 {
			text = text[:64]
		}
		for _, want := range []string{strconv.Quote(text), "256M", "1.5g"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("ParseSize(%q): error %q lacks %s", in, err, want)
			}
		}
	}
}

// FuzzParseSize holds ParseSize to what it says: whole numbers of bytes come
// back as they are, a suffix multiplies, an ignored rest changes nothing, and
// the result is the least number of bytes that is not below the text's.
func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"256M", "3.1M", ".5m", "20kk", "1e3", "abc", "-1", "", "18446744073709551616"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseSize(s)
		if err != nil {
			if got != 0 {
				t.Fatalf("ParseSize(%q) = %d with error %v", s, got, err)
			}
			if n, err := strconv.ParseUint(s, 10, 64); err == nil {
				t.Fatalf("ParseSize(%q) refuses the integer %d", s, n)
			}
			return
		}
		if n, err := strconv.ParseUint(s, 10, 64); err == nil && n != got {
			t.Fatalf("ParseSize(%q) = %d, want %d", s, got, n)
		}
		if again, err := ParseSize(strconv.FormatUint(got, 10)); err != nil || again != got {
			t.Fatalf("ParseSize of its own result %d = %d, %v", got, again, err)
		}
		i := strings.IndexAny(s, "kmgtKMGT")
		if i < 0 {
			if rest, err := ParseSize(s + "k"); err == nil && got != 0 && rest <= got-1 {
				t.Fatalf("ParseSize(%q) = %d, with suffix k only %d", s, got, rest)
			}
			return
		}
		if rest, err := ParseSize(s[:i+1]); err != nil || rest != got {
			t.Fatalf("ParseSize(%q) = %d, but without the rest of the suffix %d, %v", s, got, rest, err)
		}
		exact, ok := new(big.Rat).SetString(s[:i])
		if !ok {
			t.Fatalf("ParseSize(%q) = %d, but %q is not a number", s, got, s[:i])
		}
		shift := 10 * (1 + strings.Index("kmgt", strings.ToLower(s[i:i+1])))
		exact.Mul(exact, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(shift))))
		size := new(big.Rat).SetInt(new(big.Int).SetUint64(got))
		below := new(big.Rat).Sub(size, big.NewRat(1, 1))
		if exact.Cmp(size) > 0 || exact.Cmp(below) <= 0 {
			t.Fatalf("ParseSize(%q) = %d, not the least number of bytes that holds %s", s, got, exact.FloatString(3))
		}
	})
}
