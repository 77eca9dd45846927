// SPDX-License-Identifier: BSD-3-Clause

//go:build amd64 && !race && !purego

package move

import "golang.org/x/sys/cpu"

// Lengths for which the instruction is worth its start, and beyond which Go's copy stores
// around the caches.
const (
	least = 32 << 10
	most  = 768 << 10
)

// Bytes copies src to dst, which is as long and does not overlap it.
func Bytes(dst, src []byte) {
	if len(src) < least || len(src) > most || len(dst) < len(src) || !cpu.X86.HasERMS {
		copy(dst, src)
		return
	}
	repMove(dst, src)
}

// repMove copies len(src) bytes. It checks nothing.
//
//go:noescape
func repMove(dst, src []byte)
