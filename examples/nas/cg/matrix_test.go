// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/yard"
)

// dense returns the matrix as a slice of rows of all columns.
func dense(m matrix, columns int) [][]float64 {
	d := make([][]float64, len(m[0].start)-1)
	for i := range d {
		d[i] = make([]float64, columns)
		for k, s := range m {
			for at := s.start[i]; at < s.start[i+1]; at++ {
				d[i][k*width+int(s.columns[at])] += s.values[at]
			}
		}
	}
	return d
}

func TestMatrix_OfClassS(t *testing.T) {
	p := problems['S']
	m := newMatrix(p, 0, p.rows)
	got := 0
	for _, v := range m[0].values {
		if v != 0 {
			got++
		}
	}
	if want := 78148; len(m) != 1 || got != want {
		t.Errorf("%d stripes have %d elements that are not zero, want 1 and %d", len(m), got, want)
	}
	d := dense(m, p.rows)
	for i, row := range d {
		for j, v := range row[:i] {
			if w := d[j][i]; math.Abs(v-w) > 1e-12*math.Abs(w) {
				t.Fatalf("element (%d, %d) is %v, but (%d, %d) is %v", i, j, v, j, i, w)
			}
		}
	}
}

func TestMatrix_PartsMakeTheWhole(t *testing.T) {
	p := problems['S']
	whole := dense(newMatrix(p, 0, p.rows), p.rows)
	for npes := 2; npes <= 5; npes++ {
		for me := range npes {
			first, end := yard.Share(p.rows, me, npes)
			for i, row := range dense(newMatrix(p, first, end), p.rows) {
				if !slices.Equal(row, whole[first+i]) {
					t.Fatalf("PE %d of %d has another row %d than one PE", me, npes, first+i)
				}
			}
		}
	}
}

func TestBuilder_AddsSortsAndDropsZeros(t *testing.T) {
	b := builder{
		start:   []int{0, 5, 5, 8},
		columns: []uint32{3, 1, 3, 0, 0, 2, 1, 2},
		values:  []float64{1, 2, 4, 8, -8, 3, 5, 7},
	}
	m := b.matrix(4)
	want := stripe{[]int{0, 4, 4, 8}, []uint16{1, 3, 3, 3, 1, 2, 2, 2}, []float64{2, 5, 0, 0, 5, 10, 0, 0}}
	if len(m) != 1 || !reflect.DeepEqual(m[0], want) {
		t.Errorf("the matrix is %v, want one stripe %v", m, want)
	}
}

func TestMultiply_ManyStripes(t *testing.T) {
	const columns = 2*width + 2
	b := builder{
		start:   []int{0, 3, 4},
		columns: []uint32{columns - 1, 0, width, width - 1},
		values:  []float64{5, 7, 11, 13},
	}
	m := b.matrix(columns)
	p := make([]float64, padded(columns))
	for i := range p {
		p[i] = float64(i)
	}
	q := []float64{math.NaN(), math.NaN()}
	m.multiply(q, p, multiply)
	if want := []float64{5*(columns-1) + 11*width, 13 * (width - 1)}; len(m) != 3 || !slices.Equal(q, want) {
		t.Errorf("%d stripes times the numbers of the columns is %v, want 3 and %v", len(m), q, want)
	}
}

// Integers add up to the same in any order.
func TestProducts_OfAnyLength(t *testing.T) {
	var p [width]float64
	digits := copy(p[:], []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6})
	for n := range 21 {
		values, columns := make([]float64, n), make([]uint16, n)
		gathered, plain, squares := 0.0, 0.0, 0.0
		for i := range n {
			values[i], columns[i] = float64(i+1), uint16((7*i+2)%digits)
			gathered += values[i] * p[columns[i]]
			plain += values[i] * p[i]
			squares += (values[i] - p[i]) * (values[i] - p[i])
		}
		if n%group == 0 {
			if got := gatherDot(values, columns, &p); got != gathered {
				t.Errorf("n=%d: gatherDot is %v, want %v", n, got, gathered)
			}
		}
		if got := dot(values, p[:n]); got != plain {
			t.Errorf("n=%d: dot is %v, want %v", n, got, plain)
		}
		if got := distance2(values, p[:n]); got != squares {
			t.Errorf("n=%d: distance2 is %v, want %v", n, got, squares)
		}
	}
}

func TestVectors_Updates(t *testing.T) {
	x := []float64{1, 2, 3}
	y := []float64{10, 20, 30}
	if add(y, 2, x); !slices.Equal(y, []float64{12, 24, 36}) {
		t.Errorf("add made %v", y)
	}
	if scale(y, x, 3); !slices.Equal(y, []float64{3, 6, 9}) {
		t.Errorf("scale made %v", y)
	}
}
