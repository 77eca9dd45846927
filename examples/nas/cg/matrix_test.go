// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"slices"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

func TestMatrix_OfClassS(t *testing.T) {
	p := problems['S']
	m := newMatrix(p, 0, p.rows)
	if got, want := len(m.values), 78148; got != want {
		t.Errorf("%d elements are not zero, want %d", got, want)
	}
	at := func(row, column int) float64 {
		columns := m.columns[m.start[row]:m.start[row+1]]
		if i, ok := slices.BinarySearch(columns, uint32(column)); ok {
			return m.values[m.start[row]+i]
		}
		return 0
	}
	for row := range p.rows {
		for k := m.start[row]; k < m.start[row+1]; k++ {
			column := int(m.columns[k])
			if k > m.start[row] && m.columns[k-1] >= m.columns[k] {
				t.Fatalf("row %d has column %d after %d", row, column, m.columns[k-1])
			}
			if got, want := at(column, row), m.values[k]; math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Fatalf("element (%d, %d) is %v, but (%d, %d) is %v", row, column, want, column, row, got)
			}
		}
	}
}

func TestMatrix_PartsMakeTheWhole(t *testing.T) {
	p := problems['S']
	whole := newMatrix(p, 0, p.rows)
	for npes := 2; npes <= 5; npes++ {
		var columns []uint32
		var values []float64
		for me := range npes {
			first, end := nas.Share(p.rows, me, npes)
			part := newMatrix(p, first, end)
			columns, values = append(columns, part.columns...), append(values, part.values...)
		}
		if !slices.Equal(columns, whole.columns) || !slices.Equal(values, whole.values) {
			t.Errorf("%d PEs have another matrix than one", npes)
		}
	}
}

func TestCompress_AddsSortsAndDropsZeros(t *testing.T) {
	m := &matrix{
		start:   []int{0, 5, 5, 8},
		columns: []uint32{3, 1, 3, 0, 0, 2, 1, 2},
		values:  []float64{1, 2, 4, 8, -8, 3, 5, 7},
	}
	m.compress(4)
	if want := []int{0, 2, 2, 4}; !slices.Equal(m.start, want) {
		t.Errorf("rows start at %v, want %v", m.start, want)
	}
	if want := []uint32{1, 3, 1, 2}; !slices.Equal(m.columns, want) {
		t.Errorf("columns are %v, want %v", m.columns, want)
	}
	if want := []float64{2, 5, 5, 10}; !slices.Equal(m.values, want) {
		t.Errorf("values are %v, want %v", m.values, want)
	}
}

// Integers add up to the same in any order.
func TestProducts_OfAnyLength(t *testing.T) {
	p := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6}
	for n := range 21 {
		values, columns := make([]float64, n), make([]uint32, n)
		gathered, plain, squares := 0.0, 0.0, 0.0
		for i := range n {
			values[i], columns[i] = float64(i+1), uint32((7*i+2)%len(p))
			gathered += values[i] * p[columns[i]]
			plain += values[i] * p[i]
			squares += (values[i] - p[i]) * (values[i] - p[i])
		}
		if got := gatherDot(values, columns, p); got != gathered {
			t.Errorf("n=%d: gatherDot is %v, want %v", n, got, gathered)
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
	y = []float64{10, 20, 30, 40}
	if addTo(x, 2, y); !slices.Equal(y, []float64{21, 42, 63, 40}) {
		t.Errorf("addTo made %v", y)
	}
	y = y[:3]
	if scale(y, x, 3); !slices.Equal(y, []float64{3, 6, 9}) {
		t.Errorf("scale made %v", y)
	}
}

func BenchmarkMultiply(b *testing.B) {
	p := problems['S']
	m := newMatrix(p, 0, p.rows)
	x, q := make([]float64, p.rows), make([]float64, p.rows)
	for b.Loop() {
		m.multiply(q, x)
	}
	b.ReportMetric(2*float64(len(m.values))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mflop/s")
}
