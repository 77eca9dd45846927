// SPDX-License-Identifier: BSD-3-Clause

//go:build !amd64 && !arm64

package spin

// Pause does nothing where there is no such instruction.
func Pause() {}
