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
// These are the only memory that PEs read of each other, and every PE has to
// await all others' parts of ρ = r·r anyway: after that sum, r is there to be
// read; and it does not change before the next sum, p·q, by when all have read
// it. So there are no barriers.
type solver struct {
	pe     *shmem.PE
	timers *nas.Timers
	sum    *nas.Sum

	product product
	matrix  matrix
	bounds  []int              // PE p has rows bounds[p] up to bounds[p+1]
	x, q    []float64          // this PE's parts
	r, z    shmem.Sym[float64] // the same, for all to read
	p       []float64          // whole, and padded for the matrix
	copies  []float64          // whole; used where PEs are far
}

// newSolver is collective over all PEs.
func newSolver(pe *shmem.PE, p problem, by product, timers *nas.Timers) (*solver, error) {
	me, npes := pe.MyPE(), pe.NPEs()
	s := &solver{
		pe: pe, timers: timers, product: by, bounds: make([]int, npes+1),
		p: make([]float64, padded(p.rows)), copies: make([]float64, p.rows),
	}
	for i := range npes {
		_, s.bounds[i+1] = nas.Share(p.rows, i, npes)
	}
	first, end := s.bounds[me], s.bounds[me+1]
	s.matrix = newMatrix(p, first, end)
	s.x, s.q = make([]float64, end-first), make([]float64, end-first)
	var err error
	if s.sum, err = nas.NewSum(pe, 2); err != nil {
		return nil, err
	}
	room := s.bounds[1] // PE 0 has no fewer rows than any other
	if s.r, err = shmem.Alloc[float64](pe, room); err != nil {
		return nil, err
	}
	if s.z, err = shmem.Alloc[float64](pe, room); err != nil {
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
	z := s.z.Local()[:len(s.x)]
	products := s.sum.Of(dot(s.x, z), dot(z, z))
	inverse = 1 / products[0]
	scale(s.x, z, 1/math.Sqrt(products[1]))
	s.timers.Lap(timeVectors)
	return inverse, residual
}

// conjugate makes z the solution of A·z = x as far as so many steps of the
// conjugate gradient method get, and returns the norm of the residual.
func (s *solver) conjugate() (residual float64) {
	n := len(s.x)
	r, z, own := s.r.Local()[:n], s.z.Local()[:n], s.p[s.bounds[s.pe.MyPE()]:][:n]
	clear(z)
	clear(s.p)
	copy(r, s.x)
	rho := s.total(dot(r, r))
	s.direct(0)
	for range steps {
		s.matrix.multiply(s.q, s.p, s.product)
		s.timers.Lap(timeProduct)
		alpha := rho / s.total(dot(own, s.q))
		add(z, alpha, own)
		add(r, -alpha, s.q)
		next := s.total(dot(r, r))
		s.direct(next / rho)
		rho = next
	}

	// z is complete, like r, since the last sum.
	s.each(s.z, func(part []float64, first int) { copy(s.p[first:], part) })
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
	s.each(s.r, func(part []float64, first int) {
		addTo(part, beta, s.p[first:])
	})
	s.timers.Lap(timeGather)
}

// each calls f with every PE's part of v and the number of its first row. Near
// PEs' parts are in place; far ones are fetched before, all at once.
func (s *solver) each(v shmem.Sym[float64], f func(part []float64, first int)) {
	npes := s.pe.NPEs()
	fetched := false
	for i := range npes {
		target := (s.pe.MyPE() + i) % npes // not all ask the same one at once
		if part := s.copies[s.bounds[target]:s.bounds[target+1]]; shmem.Ptr(v, target) == nil {
			shmem.GetNBI(part, v, target)
			fetched = true
		}
	}
	if fetched {
		s.pe.Quiet()
	}
	for target := range npes {
		first, end := s.bounds[target], s.bounds[target+1]
		part := shmem.Ptr(v, target)
		if part == nil {
			part = s.copies[first:end]
		}
		f(part[:end-first], first)
	}
}
