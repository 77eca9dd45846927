// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math/rand/v2"
	"slices"
)

// A matrix is a random upper triangular one of n rows, n a power of two, whose
// rows and columns were then shuffled. Any PE can make any row of it.
type matrix struct{ n, over int }

// Odd factors make permutations of the numbers below a power of two.
const (
	rowFactor, rowShift       = 0x9E3779B1, 12345
	columnFactor, columnShift = 0x85EBCA6B, 6789
)

// shuffledRow returns where a row of the triangular matrix has gone.
func (m matrix) shuffledRow(i int) int { return (i*rowFactor + rowShift) & (m.n - 1) }

func (m matrix) shuffledColumn(j int) int { return (j*columnFactor + columnShift) & (m.n - 1) }

// row appends the shuffled columns of the elements in the triangular matrix's
// row i to columns: the diagonal's, and some to the right of it.
func (m matrix) row(columns []int, i int) []int {
	first := len(columns)
	columns = append(columns, m.shuffledColumn(i))
	random := rand.New(rand.NewPCG(141421356, uint64(i)))
	for range m.over {
		if i+1 == m.n {
			break
		}
		j := m.shuffledColumn(i + 1 + random.IntN(m.n-i-1))
		if !slices.Contains(columns[first:], j) {
			columns = append(columns, j)
		}
	}
	return columns
}
