// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

// loops are the inner loops, in one of the forms that they exist in. All give
// the same bits. Numbers of elements are powers of two, 4 at least.
type loops struct {
	load        func(to []columns, from rows, x int)
	store       func(to rows, from []columns, x int)
	loadAcross  func(to []columns, from rows)
	storeAcross func(to rows, from []columns)
	evolve      func(to []columns, r rows, x int, ofColumn, ofRow []float64, ofAll float64)

	pass4        func(y, x []columns, stride int, pass []roots)
	last4, last2 func(y, x []columns)
}

// loopsOf returns the loops in a form of this machine's.
func loopsOf(form nas.Form) loops {
	if l, ok := vectorLoops(form); ok {
		return l
	}
	return loops{load, store, loadAcross, storeAcross, evolve, pass4, last4, last2}
}
