// SPDX-License-Identifier: BSD-3-Clause

package spin

// Core returns one more than the number of the core that the caller runs on, or 0 where nothing
// tells it. It may have moved since.
//
//go:noescape
func Core() uint32
