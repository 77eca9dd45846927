// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"fmt"
	"strings"
)

// Class names a size of the problem, from S, a sample, and W, a workstation's
// of 1991, through A, B and C, which quadruple, to D, sixteen times C.
type Class byte

// Classes lists the classes by size.
const Classes = "SWABCD"

// String returns the class's letter.
func (c Class) String() string { return string(rune(c)) }

// Set makes c the class that text names. It is part of [flag.Value].
func (c *Class) Set(text string) error {
	if len(text) != 1 || !strings.Contains(Classes, text) {
		return fmt.Errorf("class is one of %s", strings.Join(strings.Split(Classes, ""), ", "))
	}
	*c = Class(text[0])
	return nil
}
