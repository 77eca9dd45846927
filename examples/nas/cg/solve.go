// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

// The sections that -timers reports.
const (
	timeProduct = iota
	timeVectors
	timeSums
)

var sections = []string{"Matrix product", "Vectors", "Sums"}

// A solver approximates the eigenvalue. Each PE has some rows of the matrix and
// the same elements of x, z and q, the product. A product needs all of p, and p
// all of r, so each PE has the whole of both: in each step it takes all PEs' parts
// of q to make r anew, and with it ρ = r·r, without asking anybody.
//
// So a step has one sum over all PEs, p·q, in place of two; that costs each PE
// additions that others do too, and saves it from waiting for them, which takes
// longer where PEs are far or share cores. The sum is all the synchronisation that
// there is: after it, all parts of q are there to be read; and as the two q take
// turns, none changes before the next sum, by when all have read it.
type solver struct {
	pe     *shmem.PE
	timers *nas.Timers
	sum    *nas.Sum

	loops  loops
	matrix matrix
	x      []float64  // this PE's part
	z      *shared    // the same, for all to read
	q      [2]*shared // the same
	r, p   []float64  // whole; p is padded for the matrix
}

// newSolver is collective over all PEs.
func newSolver(pe *shmem.PE, p problem, l loops, timers *nas.Timers) (*solver, error) {
	s := &solver{
		pe: pe, timers: timers, loops: l,
		r: make([]float64, p.rows), p: make([]float64, padded(p.rows)),
	}
	first, end := yard.Share(p.rows, pe.MyPE(), pe.NPEs())
	s.matrix = newMatrix(p, first, end)
	s.x = make([]float64, end-first)
	var err error
	if s.sum, err = nas.NewSum(pe, 3); err != nil {
		return nil, err
	}
	for _, v := range []**shared{&s.z, &s.q[0], &s.q[1]} {
		if *v, err = newShared(pe, p.rows); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// start sets x to ones.
func (s *solver) start() {
	for _, whole := range [][]float64{s.x, s.r} {
		for i := range whole {
			whole[i] = 1
		}
	}
}

// iterate does an outer iteration: it makes z the solution of A·z = x, nearly,
// and x and r the normalised z. They are equal before, too. It returns 1/(x·z) and
// the norm of x - A·z.
func (s *solver) iterate() (inverse, residual float64) {
	s.conjugate()
	z, q := s.own(s.p), s.q[0].local() // s.p is all of z
	s.matrix.multiply(q, s.p, s.loops.multiply)
	s.timers.Lap(timeProduct)
	sums := s.total(distance2(s.x, q), dot(s.x, z), dot(z, z))
	scale(s.r, s.p[:len(s.r)], 1/math.Sqrt(sums[2]))
	copy(s.x, s.own(s.r))
	s.timers.Lap(timeVectors)
	return 1 / sums[1], math.Sqrt(sums[0])
}

// conjugate makes z, and p, the solution of A·z = x as far as so many steps of the
// conjugate gradient method get.
func (s *solver) conjugate() {
	z, p, own := s.z.local(), s.p[:len(s.r)], s.own(s.p)
	clear(z)
	copy(p, s.r)
	rho := 0.0
	for i := range s.pe.NPEs() {
		first, end := s.z.part(i)
		rho += dot(s.r[first:end], s.r[first:end])
	}
	for step := range steps {
		q := s.q[step%2]
		s.matrix.multiply(q.local(), s.p, s.loops.multiply)
		s.timers.Lap(timeProduct)
		q.send()
		alpha := rho / s.total(dot(own, q.local()))[0]
		add(z, alpha, own)
		last := rho
		rho = 0
		q.each(func(part []float64, first int) {
			rho += s.loops.reduce(s.r[first:], alpha, part)
		})
		s.loops.addTo(s.r, rho/last, p)
		s.timers.Lap(timeVectors)
	}
	s.z.send()
	s.pe.BarrierAll() // all parts of z are complete
	s.timers.Lap(timeSums)
	s.z.each(func(part []float64, first int) { copy(p[first:], part) })
	s.timers.Lap(timeVectors)
}

// own returns this PE's part of a whole vector.
func (s *solver) own(whole []float64) []float64 {
	first, end := s.z.part(s.pe.MyPE())
	return whole[first:end]
}

// total returns the sums of all PEs' parts, as [nas.Sum.Of] does.
func (s *solver) total(parts ...float64) []float64 {
	s.timers.Lap(timeVectors)
	t := s.sum.Of(parts...)
	s.timers.Lap(timeSums)
	return t
}
