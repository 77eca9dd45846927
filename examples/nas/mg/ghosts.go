// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

// The sides of a grid along an axis.
const (
	low = iota
	high
	sides
)

// ghosts refreshes the ghosts of grids. Along an axis that is cut, each PE puts
// the two outer layers of its points into its neighbours' memory and signals
// that they are there, in one operation; then it waits for theirs. No PE asks
// another for anything, and none waits but for its six neighbours.
//
// A neighbour may be one exchange ahead, but not two, as it can't end the next
// without this PE's faces. So two inboxes with signals of their own, used in
// turn, are enough: a face is not overwritten before it was read, and the faces
// of two exchanges may arrive in any order, without a Fence between them.
type ghosts struct {
	torus    torus
	exchange uint64 // how many there were
	packed   []float64
	inbox    [axes][sides][2]shmem.Sym[float64] // what the PE at that side has put
	arrived  [axes][sides][2]shmem.Sym[uint64]  // the exchange in which it did
}

// newGhosts makes what it takes to refresh grids up to the size of g. It is
// collective over all PEs.
func newGhosts(pe *shmem.PE, t torus, g *grid) (*ghosts, error) {
	x := &ghosts{torus: t, packed: make([]float64, g.faceSize())}
	for axis := range axes {
		if t.size[axis] == 1 {
			continue
		}
		for side := range sides {
			for i := range x.inbox[axis][side] {
				var err error
				if x.arrived[axis][side][i], err = shmem.Alloc[uint64](pe, 1); err != nil {
					return nil, err
				}
				if x.inbox[axis][side][i], err = shmem.Alloc[float64](pe, g.face(axis, 0).size()); err != nil {
					return nil, err
				}
			}
		}
	}
	return x, nil
}

// refresh makes the ghosts of a grid copies of the points that are there on the
// torus. Every PE calls it with its part of the same grid.
func (x *ghosts) refresh(g *grid) {
	x.exchange++
	for axis := range axes {
		if x.torus.size[axis] == 1 {
			wrap(g, axis)
			continue
		}
		x.send(g, axis, 1, low)
		x.send(g, axis, g.n[axis], high)
		x.receive(g, axis, 0, low)
		x.receive(g, axis, g.n[axis]+1, high)
	}
}

// send puts layer i of a grid into the inbox of the neighbour at a side, for
// which it comes from the other one.
func (x *ghosts) send(g *grid, axis, i, side int) {
	target := x.torus.neighbour(axis, 2*side-1)
	face := g.pack(x.packed, g.face(axis, i))
	from, turn := sides-1-side, x.exchange%2
	shmem.PutSignal(x.inbox[axis][from][turn], face, x.arrived[axis][from][turn], x.exchange, shmem.SigSet, target)
}

// receive waits for the face from a side and makes it layer i of a grid.
func (x *ghosts) receive(g *grid, axis, i, side int) {
	turn := x.exchange % 2
	shmem.SignalWaitUntil(x.arrived[axis][side][turn], shmem.CmpEQ, x.exchange)
	g.unpack(g.face(axis, i), x.inbox[axis][side][turn].Local())
}

// wrap makes the ghosts along an axis that is not cut copies of the points at
// the grid's other end.
func wrap(g *grid, axis int) {
	n := g.n[axis]
	g.copyFace(g.face(axis, 0), g.face(axis, n))
	g.copyFace(g.face(axis, n+1), g.face(axis, 1))
}

// wrapAll is wrap along all axes, for a grid that one PE holds whole.
func wrapAll(g *grid) {
	for axis := range axes {
		wrap(g, axis)
	}
}
