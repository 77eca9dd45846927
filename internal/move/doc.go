// SPDX-License-Identifier: BSD-3-Clause

// Package move copies large blocks between segments by the instruction that
// processors have for that, where it is faster than Go's copy.
package move
