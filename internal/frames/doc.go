// SPDX-License-Identifier: BSD-3-Clause

// Package frames records where a call came from, in the time of a few loads.
package frames

// Depth is how many return addresses a record has.
const Depth = 5
