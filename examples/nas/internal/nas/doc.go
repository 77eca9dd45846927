// SPDX-License-Identifier: BSD-3-Clause

// Package nas is what the NAS-style kernels share: the pseudo-random numbers,
// the problem classes, the command line, the timers and the report.
//
// The kernels solve the problems of the NAS Parallel Benchmarks (Bailey et
// al. 1991) and check themselves against the published values, but they are
// not the reference programs, and their figures are no official NPB results.
package nas
