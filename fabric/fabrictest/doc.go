// SPDX-License-Identifier: BSD-3-Clause

// Package fabrictest is the suite that every provider passes.
//
// A row proves one sentence of package fabric's interfaces: it opens a few
// domains in this process, runs a short program on each as its PE, and says
// what it found wrong. [Run] runs the rows that apply to a provider, whose names
// [Rows] pins, so that none can vanish unnoticed. [Check]
// runs one row and returns its verdict, for tests that show that a row fails
// on a fabric that breaks its sentence.
package fabrictest
