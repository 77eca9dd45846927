// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
)

const seed = 314159265

// weights are the coefficients of a 27-point stencil, which depend on nothing
// but how far a neighbour is: the point itself, those across a face, an edge
// and a corner.
type weights [4]float64

// residualWeights are those of minus the Laplacian's approximation: the
// residual of A·u = v is v plus this stencil of u.
func residualWeights() weights { return weights{8. / 3, 0, -1. / 6, -1. / 12} }

// problem is a class of MG: points along each edge of the cube, as a power of
// two, how often to improve the solution, the stencil that smooths, and the norm
// of the residual that is left.
type problem struct {
	logEdge    int
	iterations int
	smoother   weights
	norm       float64
}

var problems = map[nas.Class]problem{
	'S': {5, 4, weights{-3. / 8, 1. / 32, -1. / 64, 0}, 0.5307707005734e-4},
	'W': {7, 4, weights{-3. / 8, 1. / 32, -1. / 64, 0}, 0.6467329375339e-5},
	'A': {8, 4, weights{-3. / 8, 1. / 32, -1. / 64, 0}, 0.2433365309069e-5},
	'B': {8, 20, weights{-3. / 17, 1. / 33, -1. / 61, 0}, 0.1800564401355e-5},
	'C': {9, 20, weights{-3. / 17, 1. / 33, -1. / 61, 0}, 0.5706732285740e-6},
	'D': {10, 50, weights{-3. / 17, 1. / 33, -1. / 61, 0}, 0.1583275060440e-9},
}

// edge is the number of points along an edge of the cube.
func (p problem) edge() int { return 1 << p.logEdge }

// points is the number of points of the cube.
func (p problem) points() int { return 1 << (3 * p.logEdge) }

// deviation returns how far a norm is from the published one, relatively.
func (p problem) deviation(norm float64) float64 { return math.Abs(norm-p.norm) / p.norm }

// verify reports whether norm is the published one, to 1e-8 of it.
func (p problem) verify(norm float64) bool { return p.deviation(norm) <= 1e-8 }
