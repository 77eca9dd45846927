// SPDX-License-Identifier: BSD-3-Clause

package spin

// Core returns a number, not 0, of the core that the caller runs on, as far as the system tells: 0
// where nothing does. It may have moved since.
//
//go:noescape
func Core() uint32
