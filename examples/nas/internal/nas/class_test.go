// SPDX-License-Identifier: BSD-3-Clause

package nas

import "testing"

func TestClass_SetTakesTheSixLetters(t *testing.T) {
	for _, letter := range Classes {
		var c Class
		if err := c.Set(string(letter)); err != nil || c.String() != string(letter) {
			t.Errorf("Set(%q) gave %v, error %v", letter, c, err)
		}
	}
	for _, bad := range []string{"", "s", "E", "SW", "AB"} {
		c := Class('A')
		if err := c.Set(bad); err == nil || c != 'A' {
			t.Errorf("Set(%q) gave %v, error %v", bad, c, err)
		}
	}
}

func TestShare_DealsAllOnce(t *testing.T) {
	for _, n := range []int{0, 1, 7, 64, 1000} {
		for npes := 1; npes <= 9; npes++ {
			next := 0
			for me := range npes {
				lo, hi := Share(n, me, npes)
				if lo != next || hi-lo < n/npes || hi-lo > n/npes+1 {
					t.Fatalf("Share(%d, %d, %d) is [%d, %d), want it to start at %d", n, me, npes, lo, hi, next)
				}
				next = hi
			}
			if next != n {
				t.Errorf("%d PEs share %d of %d things", npes, next, n)
			}
		}
	}
}
