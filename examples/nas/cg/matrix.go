// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"iter"
	"math"
	"slices"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// matrix is some rows of a sparse matrix, cut into stripes of columns.
type matrix []stripe

// A stripe has width columns of a matrix, the last one fewer, compressed: row
// i has values start[i] to start[i+1]-1, in columns that ascend. Numbers of
// columns within a stripe take two bytes, so that a product reads ten bytes an
// element instead of twelve, and they need no bounds check. What it reads of the
// other factor fits in the second cache. Rows are filled up with zeros to whole
// groups of elements.
type stripe struct {
	start   []int
	columns []uint16
	values  []float64
}

const (
	width = 1 << 16 // of a stripe
	group = 4       // elements
)

// padded returns n rounded up to whole stripes.
func padded(n int) int { return (n + width - 1) / width * width }

// A vector is sparse: values at some positions, each of which occurs once.
type vector struct {
	at     []uint32
	values []float64
}

// vectors yields weights and vectors. The sum of the weighted outer products of
// all of these vectors with themselves is the matrix, but for its diagonal. A
// vector is valid until the next.
func (p *problem) vectors() iter.Seq2[float64, vector] {
	return func(yield func(float64, vector) bool) {
		stream := nas.Random(seed)
		stream.Next()
		span := 1.0 // the least power of two that has room for all rows
		for span < float64(p.rows) {
			span *= 2
		}
		weight, ratio := 1.0, math.Pow(condition, 1/float64(p.rows))
		var v vector
		for row := range p.rows {
			v.at, v.values = v.at[:0], v.values[:0]
			for len(v.at) < p.nonzeros {
				value := stream.Next()
				at := uint32(span * stream.Next())
				if int(at) < p.rows && !slices.Contains(v.at, at) {
					v.at, v.values = append(v.at, at), append(v.values, value)
				}
			}
			if i := slices.Index(v.at, uint32(row)); i >= 0 {
				v.values[i] = 0.5
			} else {
				v.at, v.values = append(v.at, uint32(row)), append(v.values, 0.5)
			}
			if !yield(weight, v) {
				return
			}
			weight *= ratio
		}
	}
}

// newMatrix returns the rows from first up to end of the class's matrix. It
// makes all vectors twice, to count and to multiply, rather than keep them.
func newMatrix(p problem, first, end int) matrix {
	b := builder{start: make([]int, end-first+1)}
	own := func(row uint32) bool { return first <= int(row) && int(row) < end }
	next := make([]int, end-first) // where the next product of a row goes
	for _, v := range p.vectors() {
		for _, row := range v.at {
			if own(row) {
				next[int(row)-first] += len(v.at)
			}
		}
	}
	products := 0
	for i, n := range next {
		next[i] = products
		products += n + 1
		b.start[i+1] = products
	}

	b.columns, b.values = make([]uint32, products), make([]float64, products)
	put := func(row, column uint32, value float64) {
		at := &next[int(row)-first]
		b.columns[*at], b.values[*at] = column, value
		*at++
	}
	for weight, v := range p.vectors() {
		for i, row := range v.at {
			if !own(row) {
				continue
			}
			for j, column := range v.at {
				put(row, column, v.values[i]*(weight*v.values[j]))
			}
		}
	}
	for row := first; row < end; row++ {
		put(uint32(row), uint32(row), condition-p.shift)
	}
	return b.matrix(p.rows)
}

// A builder holds numbers that add up to a matrix: row i is the sum of values
// start[i] to start[i+1]-1, in columns of any order.
type builder struct {
	start   []int
	columns []uint32
	values  []float64
}

// matrix returns the matrix, of so many columns. Values in the same place are
// added up in their order, and zeros are left out.
func (b *builder) matrix(columns int) matrix {
	m := make(matrix, padded(columns)/width)
	for i := range m {
		m[i].start = make([]int, len(b.start))
	}
	sum, met := make([]float64, columns), make([]bool, columns)
	var row []uint32 // columns met in a row
	for i := range len(b.start) - 1 {
		row = row[:0]
		for k := b.start[i]; k < b.start[i+1]; k++ {
			c := b.columns[k]
			if !met[c] {
				met[c] = true
				row = append(row, c)
			}
			sum[c] += b.values[k]
		}
		slices.Sort(row)
		for _, c := range row {
			if sum[c] != 0 {
				s := &m[c/width]
				s.columns, s.values = append(s.columns, uint16(c%width)), append(s.values, sum[c])
			}
			sum[c], met[c] = 0, false
		}
		for k := range m {
			s := &m[k]
			for len(s.values)%group != 0 {
				s.columns, s.values = append(s.columns, s.columns[len(s.columns)-1]), append(s.values, 0)
			}
			s.start[i+1] = len(s.values)
		}
	}
	return m
}

// multiply makes q the product of the matrix and p, which is padded.
func (m matrix) multiply(q, p []float64, by product) {
	clear(q)
	for i := range m {
		by(&m[i], q, (*[width]float64)(p[i*width:]))
	}
}
