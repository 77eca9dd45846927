// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux || !amd64

package spin

// Core returns 0: nothing tells the core that the caller runs on.
func Core() uint32 { return 0 }
