// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

// noise returns n complex numbers.
func noise(n int) []complex128 {
	stream := nas.Random(seed)
	numbers := make([]complex128, n)
	for i := range numbers {
		re := stream.Next()
		numbers[i] = complex(re, stream.Next())
	}
	return numbers
}

// The slow reference: the sum that a transform is.
func slowTransform(x []complex128) []complex128 {
	n := len(x)
	y := make([]complex128, n)
	for j := range y {
		for l, v := range x {
			y[j] += v * cmplx.Rect(1, -2*math.Pi*float64(j*l%n)/float64(n))
		}
	}
	return y
}

func TestTransform_IsTheSum(t *testing.T) {
	for n := 4; n <= 512; n *= 2 {
		block := noise(n * lanes)
		tr := newTransform(n, loopsOf(nas.Go))
		load(tr.x, rowsOf(block, lanes), 0)
		y := tr.run()
		for lane := range lanes {
			column := make([]complex128, n)
			for i := range column {
				column[i] = block[i*lanes+lane]
			}
			for i, want := range slowTransform(column) {
				if got := complex(y[i].re[lane], y[i].im[lane]); cmplx.Abs(got-want) > 1e-13*float64(n) {
					t.Fatalf("n=%d, lane %d: number %d is %v, want %v", n, lane, i, got, want)
				}
			}
		}
	}
}

func TestRows_StoreIsTheReverseOfLoad(t *testing.T) {
	const n, length = 3, 2 * lanes
	block := noise(n * length)
	c := make([]columns, n)
	load(c, rowsOf(block, length), lanes)
	if got, want := complex(c[2].re[1], c[2].im[1]), block[2*length+lanes+1]; got != want {
		t.Errorf("row 2, column %d was loaded as %v, want %v", lanes+1, got, want)
	}
	got := noise(n * length)
	for i := range got {
		if i/lanes%2 == 1 {
			got[i] = 0
		}
	}
	if store(rowsOf(got, length), c, lanes); !slices.Equal(got, block) {
		t.Error("other numbers were stored than were loaded")
	}
}

func TestRows_StoreAcrossIsTheReverseOfLoadAcross(t *testing.T) {
	const length = 8
	block := noise(2 * lanes * length)
	c := make([]columns, length)
	loadAcross(c, rowsOf(block, length)[lanes:])
	if got, want := complex(c[2].re[1], c[2].im[1]), block[(lanes+1)*length+2]; got != want {
		t.Errorf("row %d, column 2 was loaded as %v, want %v", lanes+1, got, want)
	}
	got := slices.Clone(block)
	clear(got[lanes*length:])
	if storeAcross(rowsOf(got, length)[lanes:], c); !slices.Equal(got, block) {
		t.Error("other numbers were stored than were loaded")
	}
}

func TestRows_Evolve(t *testing.T) {
	const n = 3
	block := noise(n * lanes)
	got := slices.Clone(block)
	ofColumn, ofRow := decay(lanes), decay(n)
	c := make([]columns, n)
	evolve(c, rowsOf(got, lanes), 0, ofColumn, ofRow, 0.5)
	for i, v := range got {
		row, lane := i/lanes, i%lanes
		want := block[i] * complex(0.5*ofRow[row]*ofColumn[lane], 0)
		if cmplx.Abs(v-want) > 1e-15 {
			t.Fatalf("row %d, column %d is %v, want %v", row, lane, v, want)
		}
		if got := complex(c[row].re[lane], c[row].im[lane]); got != cmplx.Conj(v) {
			t.Fatalf("row %d, column %d was loaded as %v, want %v", row, lane, got, cmplx.Conj(v))
		}
	}
}

func TestDecay_OfNegativeWaveNumbers(t *testing.T) {
	d := decay(8)
	for i, k := range []float64{0, 1, 2, 3, -4, -3, -2, -1} {
		want := math.Exp(-4e-6 * math.Pi * math.Pi * k * k)
		if math.Abs(d[i]-want) > 1e-15 {
			t.Errorf("factor %d is %v, want %v", i, d[i], want)
		}
	}
}
