// SPDX-License-Identifier: BSD-3-Clause

//go:build !purego

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

// forms returns the forms beside Go that the inner loops have been written in.
func forms() []nas.Form { return []nas.Form{nas.AVX2, nas.AVX512} }

// vectorLoops returns the loops in a vector form.
func vectorLoops(form nas.Form) (l loops, ok bool) {
	switch form {
	case nas.AVX2:
		return assembled(
			moves{loadAVX2, storeAVX2, loadAcrossAVX2, storeAcrossAVX2},
			evolveAVX2, pass4AVX2, last4AVX2, last2AVX2,
		), true
	case nas.AVX512:
		return assembled(
			moves{loadAVX512, storeAVX512, loadAcrossAVX512, storeAcrossAVX512},
			evolveAVX512, pass4AVX512, last4AVX512, last2AVX512,
		), true
	default:
		return loops{}, false
	}
}

// moves are the functions that change nothing.
type moves struct {
	load        func(to *float64, from *[]complex128, x, n int)
	store       func(to *[]complex128, from *float64, x, n int)
	loadAcross  func(to *float64, from *[]complex128, n int)
	storeAcross func(to *[]complex128, from *float64, n int)
}

// assembled returns the loops made of these functions. They check nothing, so
// what they would read and write is indexed before.
func assembled(
	m moves,
	evolve func(to *float64, r *[]complex128, x, n int, ofColumn, ofRow *float64, ofAll float64),
	pass4 func(y, x *float64, stride, quarter, n int, pass *float64),
	last4, last2 func(y, x *float64, n int),
) loops {
	return loops{
		load: func(to []columns, from rows, x int) {
			from.check(x + lanes)
			m.load(&to[:len(from)][0].re[0], &from[0], x, len(from))
		},
		store: func(to rows, from []columns, x int) {
			to.check(x + lanes)
			m.store(&to[0], &from[:len(to)][0].re[0], x, len(to))
		},
		loadAcross: func(to []columns, from rows) {
			from[:lanes].check(len(to))
			m.loadAcross(&to[0].re[0], &from[0], len(to))
		},
		storeAcross: func(to rows, from []columns) {
			to[:lanes].check(len(from))
			m.storeAcross(&to[0], &from[0].re[0], len(from))
		},
		evolve: func(to []columns, r rows, x int, ofColumn, ofRow []float64, ofAll float64) {
			r.check(x + lanes)
			ofColumn, ofRow = ofColumn[x:][:lanes], ofRow[:len(r)]
			evolve(&to[:len(r)][0].re[0], &r[0], x, len(r), &ofColumn[0], &ofRow[0], ofAll)
		},
		pass4: func(y, x []columns, stride int, pass []roots) {
			n := 4 * stride * len(pass)
			pass4(&y[:n][0].re[0], &x[:n][0].re[0], stride, n/4, len(pass), &pass[0].re[0])
		},
		last4: func(y, x []columns) { last4(&y[:len(x)][0].re[0], &x[0].re[0], len(x)/4) },
		last2: func(y, x []columns) { last2(&y[:len(x)][0].re[0], &x[0].re[0], len(x)/2) },
	}
}

// check panics unless each row has n numbers.
func (r rows) check(n int) {
	for _, row := range r {
		_ = row[:n]
	}
}
