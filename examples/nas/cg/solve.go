// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

// The sections that -timers reports.
const (
	timeProduct = iota
	timeVectors
	timeSums
	timeGather
)

var sections = []string{"Matrix product", "Vectors", "Sums", "Gather"}

// A solver approximates the eigenvalue. Each PE has some rows of the matrix and
// the same elements of all vectors. A product needs all of p, so each PE has the
// whole of it, and makes that anew in each step from the PEs' parts of r.
//
// These are all that a PE needs of the others, and it has to await their parts of
// ρ = r·r anyway: after that sum, r is there to be read; and it does not change
// before the next sum, p·q, by when all have read it. So there are no barriers.
type solver struct {
	pe     *shmem.PE
	timers *nas.Timers
	sum    *nas.Sum

	product product
	matrix  matrix
	x, q    []float64 // this PE's parts
	r, z    *shared   // the same, for all to read
	p       []float64 // whole, and padded for the matrix
}

// newSolver is collective over all PEs.
func newSolver(pe *shmem.PE, p problem, by product, timers *nas.Timers) (*solver, error) {
	s := &solver{pe: pe, timers: timers, product: by, p: make([]float64, padded(p.rows))}
	first, end := nas.Share(p.rows, pe.MyPE(), pe.NPEs())
	s.matrix = newMatrix(p, first, end)
	s.x, s.q = make([]float64, end-first), make([]float64, end-first)
	var err error
	if s.sum, err = nas.NewSum(pe, 2); err != nil {
		return nil, err
	}
	if s.r, err = newShared(pe, p.rows); err != nil {
		return nil, err
	}
	if s.z, err = newShared(pe, p.rows); err != nil {
		return nil, err
	}
	return s, nil
}

// start sets x to ones.
func (s *solver) start() {
	for i := range s.x {
		s.x[i] = 1
	}
}

// iterate does an outer iteration: it makes z the solution of A·z = x, nearly,
// and x the normalised z. It returns 1/(x·z) and the norm of x - A·z.
func (s *solver) iterate() (inverse, residual float64) {
	residual = s.conjugate()
	z := s.z.local()
	products := s.sum.Of(dot(s.x, z), dot(z, z))
	inverse = 1 / products[0]
	scale(s.x, z, 1/math.Sqrt(products[1]))
	s.timers.Lap(timeVectors)
	return inverse, residual
}

// conjugate makes z the solution of A·z = x as far as so many steps of the
// conjugate gradient method get, and returns the norm of the residual.
func (s *solver) conjugate() (residual float64) {
	first, end := s.r.part(s.pe.MyPE())
	r, z, own := s.r.local(), s.z.local(), s.p[first:end]
	clear(z)
	clear(s.p)
	copy(r, s.x)
	s.r.send()
	rho := s.total(dot(r, r))
	s.direct(0)
	for range steps {
		s.matrix.multiply(s.q, s.p, s.product)
		s.timers.Lap(timeProduct)
		alpha := rho / s.total(dot(own, s.q))
		add(z, alpha, own)
		add(r, -alpha, s.q)
		s.r.send()
		next := s.total(dot(r, r))
		s.direct(next / rho)
		rho = next
	}

	// z is complete, like r, since the last sum.
	s.z.send()
	s.z.each(func(part []float64, first int) { copy(s.p[first:], part) })
	s.timers.Lap(timeGather)
	s.matrix.multiply(s.q, s.p, s.product)
	s.timers.Lap(timeProduct)
	return math.Sqrt(s.total(distance2(s.x, s.q)))
}

// total returns the sum of all PEs' parts.
func (s *solver) total(part float64) float64 {
	s.timers.Lap(timeVectors)
	t := s.sum.Of(part)[0]
	s.timers.Lap(timeSums)
	return t
}

// direct makes p = r + beta·p, the next direction, from all PEs' parts of r.
func (s *solver) direct(beta float64) {
	s.r.each(func(part []float64, first int) {
		addTo(part, beta, s.p[first:])
	})
	s.timers.Lap(timeGather)
}
