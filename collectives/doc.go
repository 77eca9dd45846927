// SPDX-License-Identifier: BSD-3-Clause

// Package collectives holds the algorithms that a group of PEs runs together:
// synchronisation, and on top of it broadcast, reduction and exchange. It knows
// groups and windows, and neither processes nor providers.
//
// Every collective starts or ends with a synchronisation that compares what
// the members called, so that a PE in an Alloc and one in a barrier, or two in
// broadcasts of different lengths, get an error that names both calls instead
// of each other's data.
package collectives
