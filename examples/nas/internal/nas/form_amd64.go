// SPDX-License-Identifier: BSD-3-Clause

package nas

import "golang.org/x/sys/cpu"

// runs reports whether this machine has the instructions that a form uses.
func (f Form) runs() bool {
	switch f {
	case AVX2:
		return cpu.X86.HasAVX2
	case AVX512:
		return cpu.X86.HasAVX512F
	default:
		return f == Go
	}
}
