// SPDX-License-Identifier: BSD-3-Clause

//go:build !amd64

package nas

// runs reports whether this machine has the instructions that a form uses.
func (f Form) runs() bool { return f == Go }
