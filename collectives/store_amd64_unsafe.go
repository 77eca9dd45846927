// SPDX-License-Identifier: BSD-3-Clause

//go:build amd64 && !race

package collectives

// storeRelease stores v at p after everything before it. On amd64 a plain MOV
// is that; atomic.Store would be an XCHG, 20–30 % of a hop.
func storeRelease(p pointer, v uint64) { *(*uint64)(p) = v }
