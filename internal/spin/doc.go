// SPDX-License-Identifier: BSD-3-Clause

// Package spin holds the instructions for waits that Go has no words for: that of a
// spin loop, and the one that tells the core.
package spin
