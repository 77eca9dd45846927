// SPDX-License-Identifier: BSD-3-Clause

//go:build amd64 || arm64

package spin

// Pause tells the processor that the caller spins on a word: it saves power,
// leaves the core's resources to its sibling, and avoids the pipeline flush
// that ends a tight loop when the word changes.
//
//go:noescape
func Pause()
