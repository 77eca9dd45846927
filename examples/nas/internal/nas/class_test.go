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
