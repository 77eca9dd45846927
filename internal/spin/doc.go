// SPDX-License-Identifier: BSD-3-Clause

// Package spin holds the one instruction of a spin loop that Go has no word
// for.
package spin
