// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"math/rand/v2"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

const (
	interval  = 1e-4 // of time, for each step
	softening = 1e-3 // is added to each squared distance, so that none is 0
)

// A vector is a place, a speed or an acceleration.
type vector struct{ x, y, z float64 }

// plus returns v + f·w.
func (v vector) plus(f float64, w vector) vector {
	return vector{v.x + f*w.x, v.y + f*w.y, v.z + f*w.z}
}

func (v vector) dot(w vector) float64 { return v.x*w.x + v.y*w.y + v.z*w.z }

// A body is what others have to know of one: it travels. The constant of gravity
// is 1, and so are all masses together.
type body struct {
	at   vector
	mass float64
}

// A cluster is one PE's bodies, and its place in the ring.
type cluster struct {
	pe           *shmem.PE
	n            int // bodies of all PEs
	own          []body
	speed        []vector
	acceleration []vector
	potential    []float64 // of each own body, in the field of all others

	travelling [2]shmem.Sym[body] // the copy that is here, and the one that comes
	arrived    shmem.Sym[uint64]  // signal: copies that the left neighbour has sent
	finished   shmem.Sym[uint64]  // signal: copies that the right neighbour is done with
	turn       uint64             // copies that this PE is done with
}

// newCluster is collective.
func newCluster(pe *shmem.PE, n int) (*cluster, error) {
	lo, hi := yard.Share(n, pe.MyPE(), pe.NPEs())
	c := &cluster{
		pe: pe, n: n, own: make([]body, hi-lo), speed: make([]vector, hi-lo),
		acceleration: make([]vector, hi-lo), potential: make([]float64, hi-lo),
	}
	for i := range c.own { // the same bodies on any number of PEs
		random := rand.New(rand.NewPCG(172205, uint64(lo+i)))
		at := vector{random.Float64(), random.Float64(), random.Float64()}
		c.own[i] = body{at, 1 / float64(n)}
		c.speed[i] = vector{0.5 - at.y, at.x - 0.5, 0} // around the middle
	}
	for _, x := range []*shmem.Sym[body]{&c.travelling[0], &c.travelling[1]} {
		var err error
		if *x, err = shmem.Alloc[body](pe, (n+pe.NPEs()-1)/pe.NPEs()); err != nil {
			return nil, err
		}
	}
	for _, x := range []*shmem.Sym[uint64]{&c.arrived, &c.finished} {
		var err error
		if *x, err = shmem.Alloc[uint64](pe, 1); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// step moves all bodies by the leapfrog method: half of the acceleration before,
// half of it after.
func (c *cluster) step() {
	for i := range c.own {
		c.speed[i] = c.speed[i].plus(interval/2, c.acceleration[i])
		c.own[i].at = c.own[i].at.plus(interval, c.speed[i])
	}
	c.attract()
	for i := range c.own {
		c.speed[i] = c.speed[i].plus(interval/2, c.acceleration[i])
	}
}

// attract computes the accelerations: every PE's bodies come by.
func (c *cluster) attract() {
	me, npes := c.pe.MyPE(), c.pe.NPEs()
	left, right := (me+npes-1)%npes, (me+1)%npes
	clear(c.acceleration)
	clear(c.potential)
	copy(c.travelling[c.turn%2].Local(), c.own)
	for i := range npes {
		lo, hi := yard.Share(c.n, (me-i+npes)%npes, npes) // whose bodies are here
		here := c.travelling[c.turn%2].Local()[:hi-lo]
		last := i == npes-1
		if !last {
			// The buffer there is free when the copy before this one is done with.
			shmem.SignalWaitUntil(c.finished, shmem.CmpGE, c.turn)
			shmem.PutSignalNBI(c.travelling[(c.turn+1)%2], here, c.arrived, c.turn+1, shmem.SigSet, right)
		}
		pull(c.acceleration, c.potential, c.own, here) // while the copy travels
		c.pe.Quiet()                                   // now it may be overwritten
		c.turn++
		shmem.SignalSet(c.finished, c.turn, left)
		if !last {
			shmem.SignalWaitUntil(c.arrived, shmem.CmpGE, c.turn)
		}
	}
}

// pull adds what others do to own: to their accelerations, and potentials.
func pull(acceleration []vector, potential []float64, own, others []body) {
	for i, b := range own {
		sum, field := vector{}, 0.
		for _, o := range others {
			d := o.at.plus(-1, b.at)
			square := d.dot(d)
			if square == 0 {
				continue // itself
			}
			inverse := 1 / math.Sqrt(square+softening)
			sum = sum.plus(o.mass*inverse*inverse*inverse, d)
			field -= o.mass * inverse
		}
		acceleration[i] = acceleration[i].plus(1, sum)
		potential[i] += field
	}
}

// conserved is what all bodies together keep.
type conserved struct {
	kinetic, potential float64 // energies
	x, y, z            float64 // momentum
}

func (c conserved) energy() float64 { return c.kinetic + c.potential }

// total returns what all PEs' bodies have. It is collective.
func (c *cluster) total() (sum conserved, err error) {
	for i, b := range c.own {
		v := c.speed[i]
		sum.kinetic += b.mass * v.dot(v) / 2
		sum.potential += b.mass * c.potential[i] / 2 // each pair is in two bodies' potentials
		sum.x, sum.y, sum.z = sum.x+b.mass*v.x, sum.y+b.mass*v.y, sum.z+b.mass*v.z
	}
	for _, x := range []*float64{&sum.kinetic, &sum.potential, &sum.x, &sum.y, &sum.z} {
		if *x, err = yard.Sum(c.pe, *x); err != nil {
			return conserved{}, err
		}
	}
	return sum, nil
}

// check returns how many of this PE's accelerations are not what all bodies,
// collected in one place, make them, and on PE 0 what is not conserved, too. It is
// collective.
func (c *cluster) check(before, after conserved) (wrong int, err error) {
	const rounding, method = 1e-9, 1e-4 // errors that are none
	all, err := shmem.Alloc[body](c.pe, c.n)
	if err != nil {
		return 0, err
	}
	mine := c.travelling[0]
	copy(mine.Local(), c.own)
	shmem.Collect(c.pe.World(), all, mine.Slice(0, len(c.own)))
	acceleration, potential := make([]vector, len(c.own)), make([]float64, len(c.own))
	pull(acceleration, potential, c.own, all.Local())
	for i, a := range acceleration {
		d := a.plus(-1, c.acceleration[i])
		if !(d.dot(d) <= rounding*rounding*max(1, a.dot(a))) {
			wrong++
		}
	}
	if c.pe.MyPE() != 0 {
		return wrong, nil
	}
	for _, d := range []float64{after.x - before.x, after.y - before.y, after.z - before.z} {
		if !(math.Abs(d) <= rounding) {
			wrong++
		}
	}
	if !(math.Abs(after.energy()-before.energy()) <= method*math.Abs(before.potential)) {
		wrong++
	}
	return wrong, nil
}
