// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

// The sections that -timers reports.
const (
	timeResidual = iota
	timeSmoother
	timeRestriction
	timeProlongation
	timeGhosts
	timeCoarse
	timeNorm
)

var sections = []string{"Residual", "Smoother", "Restriction", "Prolongation", "Ghosts", "Coarse grids", "Norm"}

// A level is a grid of the hierarchy, twice as fine along each axis as the one
// below: level k has 2^k points along the cube's edges.
type level struct {
	u grid // the solution, or the correction of the next finer one
	r grid // the residual
}

// A multigrid solves A·u = v by V-cycles. The levels above coarseLevel are cut
// into the PEs' parts, the others are small: every PE has all of them, and
// computes all of them, since that takes less time than to exchange their ghosts.
type multigrid struct {
	problem
	planes
	pe     *shmem.PE
	timers *nas.Timers

	v      grid
	levels []level // levels[k] is level k; the last is the finest, and there is no level 0
	torus  torus
	ghosts *ghosts
	gather *gather // of coarseLevel's residual
	sum    shmem.Sym[float64]
}

// newMultigrid is collective over all PEs, which t holds.
func newMultigrid(pe *shmem.PE, p problem, t torus, k planes, timers *nas.Timers) (*multigrid, error) {
	m := &multigrid{problem: p, planes: k, pe: pe, timers: timers, torus: t, levels: make([]level, p.logEdge+1)}
	for i := 1; i <= p.logEdge; i++ {
		n := [axes]int{1 << i, 1 << i, 1 << i}
		if i > coarseLevel {
			n = t.share(1 << i)
		}
		m.levels[i] = level{newGrid(n), newGrid(n)}
	}
	m.v = newGrid(t.share(p.edge()))
	if err := source(pe, &m.v, t, p.edge()); err != nil {
		return nil, err
	}
	var err error
	if m.ghosts, err = newGhosts(pe, t, &m.v); err != nil {
		return nil, err
	}
	if m.gather, err = newGather(pe, t); err != nil {
		return nil, err
	}
	m.sum, err = shmem.Alloc[float64](pe, 1)
	return m, err
}

// reset sets u = 0.
func (m *multigrid) reset() { clear(m.finest().u.data) }

// finest returns the finest level.
func (m *multigrid) finest() *level { return &m.levels[m.logEdge] }

// finestResidual sets r = v − A·u.
func (m *multigrid) finestResidual() {
	f := m.finest()
	m.residualOf(&f.r, &m.v, &f.u)
	m.refresh(&f.r)
}

// cycle is a V-cycle: it restricts the residual down to the coarsest level,
// solves there for a correction, and on the way up corrects, by what it finds at
// each level, the next. At the end it finds the new residual.
func (m *multigrid) cycle() {
	for k := m.logEdge; k > coarseLevel+1; k-- {
		m.restrictTo(&m.levels[k-1].r, &m.levels[k].r)
		m.refresh(&m.levels[k-1].r)
	}
	part := m.gather.part(&m.levels[coarseLevel].r)
	m.restrictTo(&part, &m.levels[coarseLevel+1].r)
	m.gather.residual(&m.levels[coarseLevel].r)
	m.solveCoarse()
	m.timers.Lap(timeCoarse)

	for k := coarseLevel + 1; k <= m.logEdge; k++ {
		l, coarse := &m.levels[k], m.levels[k-1].u
		if k == coarseLevel+1 {
			coarse = m.gather.part(&coarse)
		}
		if k == m.logEdge {
			prolong(&m.planes, &l.u, &coarse)
			m.timers.Lap(timeProlongation)
			m.residualOf(&l.r, &m.v, &l.u)
		} else {
			interpolate(&m.planes, &l.u, &coarse)
			m.timers.Lap(timeProlongation)
			m.residualOf(&l.r, &l.r, &l.u)
		}
		m.refresh(&l.r)
		m.smoothBy(&l.u, &l.r)
		m.refresh(&l.u)
	}
	m.finestResidual()
}

// solveCoarse is the part of a V-cycle from coarseLevel down and up again, which
// every PE does for itself.
func (m *multigrid) solveCoarse() {
	for k := coarseLevel; k > 1; k-- {
		restrict(&m.planes, &m.levels[k-1].r, &m.levels[k].r)
		wrapAll(&m.levels[k-1].r)
	}
	for k := 1; k <= coarseLevel; k++ {
		l := &m.levels[k]
		if k == 1 {
			clear(l.u.data)
		} else {
			interpolate(&m.planes, &l.u, &m.levels[k-1].u)
			residual(&m.planes, &l.r, &l.r, &l.u)
			wrapAll(&l.r)
		}
		smooth(&m.planes, &l.u, &l.r, &m.smoother)
		wrapAll(&l.u)
	}
}

func (m *multigrid) residualOf(r, v, u *grid) {
	residual(&m.planes, r, v, u)
	m.timers.Lap(timeResidual)
}

func (m *multigrid) smoothBy(u, r *grid) {
	smooth(&m.planes, u, r, &m.smoother)
	m.timers.Lap(timeSmoother)
}

func (m *multigrid) restrictTo(coarse, fine *grid) {
	restrict(&m.planes, coarse, fine)
	m.timers.Lap(timeRestriction)
}

func (m *multigrid) refresh(g *grid) {
	m.ghosts.refresh(g)
	m.timers.Lap(timeGhosts)
}

// norm returns the root of the mean of the residual's squares. It is collective.
func (m *multigrid) norm() float64 {
	r := &m.finest().r
	sum := 0.
	for z := 1; z <= r.n[axisZ]; z++ {
		for y := 1; y <= r.n[axisY]; y++ {
			sum += squares(r.interior(y, z))
		}
	}
	m.pe.SyncAll() // until now, a PE may have been reading the last sum
	m.sum.Local()[0] = sum
	shmem.SumReduce(m.pe.World(), m.sum, m.sum)
	m.timers.Lap(timeNorm)
	return math.Sqrt(m.sum.Local()[0] / float64(m.points()))
}

// squares returns the sum of the squares of x, in four sums that do not wait for
// one another.
func squares(x []float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] * x[0]
		b += x[1] * x[1]
		c += x[2] * x[2]
		d += x[3] * x[3]
	}
	for _, x := range x {
		a += x * x
	}
	return (a + b) + (c + d)
}
