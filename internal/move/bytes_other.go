// SPDX-License-Identifier: BSD-3-Clause

//go:build !amd64 || race || purego

package move

// Bytes copies src to dst, which is as long and does not overlap it.
func Bytes(dst, src []byte) { copy(dst, src) }
