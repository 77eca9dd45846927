// SPDX-License-Identifier: BSD-3-Clause

package main

// lanes is how many transforms are done at once, side by side: enough for whole
// cache lines of the rows that they are taken from, few enough for the first
// cache.
const lanes = 16

// A slice of columns holds one complex number of each of these transforms an
// element, real and imaginary parts apart, as arithmetic likes them.
type columns struct{ re, im [lanes]float64 }

// rows are equally long parts of an array of complex numbers, one after the
// other in a direction in which they do not follow each other in memory.
type rows [][]complex128

// rowsOf returns all of block as rows.
func rowsOf(block []complex128, length int) rows {
	r := make(rows, len(block)/length)
	for i := range r {
		r[i] = block[i*length:][:length]
	}
	return r
}

// load sets to to the rows' numbers from x on, a row an element.
func load(to []columns, from rows, x int) {
	for i, row := range from {
		c := &to[i]
		for lane, v := range (*[lanes]complex128)(row[x:]) {
			c.re[lane], c.im[lane] = real(v), imag(v)
		}
	}
}

// store is the reverse of load.
func store(to rows, from []columns, x int) {
	for i, row := range to {
		c, row := &from[i], (*[lanes]complex128)(row[x:])
		for lane := range row {
			row[lane] = complex(c.re[lane], c.im[lane])
		}
	}
}

// evolve multiplies the rows' numbers from x on by the product of the factors of
// their column, their row, and all. It sets to to the complex conjugates, a row
// an element.
func evolve(to []columns, r rows, x int, ofColumn, ofRow []float64, ofAll float64) {
	factors := (*[lanes]float64)(ofColumn[x:])
	for i, row := range r {
		c, row := &to[i], (*[lanes]complex128)(row[x:])
		a := ofAll * ofRow[i]
		for lane, v := range row {
			f := a * factors[lane]
			re, im := f*real(v), f*imag(v)
			row[lane] = complex(re, im)
			c.re[lane], c.im[lane] = re, -im
		}
	}
}

// loadAcross sets to to as many rows as there are lanes, a row a lane.
func loadAcross(to []columns, from rows) {
	for lane, row := range from[:lanes] {
		row = row[:len(to)]
		for i, v := range row {
			to[i].re[lane], to[i].im[lane] = real(v), imag(v)
		}
	}
}

// storeAcross is the reverse of loadAcross.
func storeAcross(to rows, from []columns) {
	for lane, row := range to[:lanes] {
		row = row[:len(from)]
		for i := range row {
			row[i] = complex(from[i].re[lane], from[i].im[lane])
		}
	}
}
