// SPDX-License-Identifier: BSD-3-Clause

//go:build !amd64 && !arm64

package frames

import "runtime"

// Record fills pcs with return addresses, from that of Record's caller outwards,
// and zeroes at the end.
func Record(pcs *[Depth]uintptr) {
	clear(pcs[runtime.Callers(3, pcs[:]):])
}
