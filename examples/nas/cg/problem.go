// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

const (
	seed      = 314159265
	condition = 0.1   // reciprocal of the matrix's condition number, before the shift
	steps     = 25    // of the conjugate gradient method, in each outer iteration
	tolerance = 1e-10 // of zeta, relative
)

// problem is a class of CG: its sizes, and what comes out.
type problem struct {
	rows       int
	nonzeros   int // of each vector that the matrix is made of, besides its own position
	iterations int
	shift      float64
	zeta       float64 // the shift plus the reciprocal of the inverse's largest eigenvalue
}

var problems = map[nas.Class]problem{
	'S': {1400, 7, 15, 10, 8.5971775078648},
	'W': {7000, 8, 15, 12, 10.362595087124},
	'A': {14000, 11, 15, 20, 17.130235054029},
	'B': {75000, 13, 75, 60, 22.712745482631},
	'C': {150000, 15, 75, 110, 28.973605592845},
	'D': {1500000, 21, 100, 500, 52.514532105794},
}

// operations returns the number of floating-point operations of an outer
// iteration, as all implementations count them.
func (p *problem) operations() float64 {
	c := float64(p.nonzeros * (p.nonzeros + 1))
	return 2 * float64(p.rows) * (3 + c + steps*(5+c) + 3)
}

// err returns the relative error of a zeta.
func (p *problem) err(zeta float64) float64 { return math.Abs(zeta-p.zeta) / p.zeta }
