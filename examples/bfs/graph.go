// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"math/bits"
	"math/rand/v2"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

// A kronecker is the generator of a graph's edges.
type kronecker struct {
	scale uint
	edges int
}

func (k kronecker) vertices() int { return 1 << k.scale }

// edge returns the ends of edge i. Each bit of them is drawn with Graph500's
// probabilities, which gives few vertices most of the edges; then the vertices are
// shuffled, so that these are not all of one PE.
func (k kronecker) edge(i int) (u, v int32) {
	const a, b, c = 0.57, 0.19, 0.19
	random := rand.New(rand.NewPCG(577215664, uint64(i)))
	for range k.scale {
		u, v = u<<1, v<<1
		switch p := random.Float64(); {
		case p < a:
		case p < a+b:
			v |= 1
		case p < a+b+c:
			u |= 1
		default:
			u, v = u|1, v|1
		}
	}
	return k.shuffled(u), k.shuffled(v)
}

// shuffled permutes the vertices: an odd factor mixes a bit into all higher ones,
// of which the reversal makes lower ones.
func (k kronecker) shuffled(v int32) int32 {
	mixed := (uint32(v)*0x9E3779B1 + 12345) << (32 - k.scale)
	return int32(bits.Reverse32(mixed) * 0x85EBCA6B & (1<<k.scale - 1))
}

// A pair tells the owner of a vertex about a neighbour of it.
type pair struct{ vertex, neighbour int32 }

// A graph's vertices are dealt to the PEs one by one: vertex v is PE v mod NPEs's
// vertex v / NPEs.
type graph struct {
	kronecker
	pe         *shmem.PE
	neighbours [][]int32        // of each of this PE's vertices
	parents    shmem.Sym[int32] // 1 more than the vertex from which each of them was found
	all        shmem.Sym[int32] // every PE's parents, one PE after the other
	found      shmem.Sym[int64] // vertices found in a level

	// What exchange needs.
	told, heard shmem.Sym[pair]
	counts      shmem.Sym[int64]
	received    []int
}

// newGraph makes the graph. It is collective.
func newGraph(pe *shmem.PE, k kronecker) (*graph, error) {
	npes := pe.NPEs()
	room := (k.vertices() + npes - 1) / npes
	g := &graph{kronecker: k, pe: pe, neighbours: make([][]int32, room), received: make([]int, npes)}
	for _, x := range []struct {
		sym *shmem.Sym[int32]
		n   int
	}{{&g.parents, room}, {&g.all, room * npes}} {
		var err error
		if *x.sym, err = shmem.Alloc[int32](pe, x.n); err != nil {
			return nil, err
		}
	}
	var err error
	if g.counts, err = shmem.Alloc[int64](pe, npes); err != nil {
		return nil, err
	}
	if g.found, err = shmem.Alloc[int64](pe, 1); err != nil {
		return nil, err
	}

	// A search tells and hears of each of these once at most.
	out := g.edgesToTell()
	if err := g.makeRoom(out); err != nil {
		return nil, err
	}
	for _, p := range g.exchange(out) {
		i := int(p.vertex) / npes
		g.neighbours[i] = append(g.neighbours[i], p.neighbour)
	}
	return g, nil
}

// edgesToTell draws this PE's share of the edges, and returns for each PE what
// it has to know of them.
func (g *graph) edgesToTell() [][]pair {
	npes := g.pe.NPEs()
	out := make([][]pair, npes)
	lo, hi := yard.Share(g.edges, g.pe.MyPE(), npes)
	for i := lo; i < hi; i++ {
		if u, v := g.edge(i); u != v {
			out[int(u)%npes] = append(out[int(u)%npes], pair{u, v})
			out[int(v)%npes] = append(out[int(v)%npes], pair{v, u})
		}
	}
	return out
}

// makeRoom allocates told and heard for out on all PEs. It is collective.
func (g *graph) makeRoom(out [][]pair) error {
	arriving, err := shmem.Alloc[int64](g.pe, g.pe.NPEs())
	if err != nil {
		return err
	}
	told, heard := int64(0), int64(0)
	for p, pairs := range out {
		g.counts.Local()[p] = int64(len(pairs))
		told += int64(len(pairs))
	}
	shmem.AllToAll(g.pe.World(), arriving, g.counts)
	for _, n := range arriving.Local() {
		heard += n
	}
	g.found.Local()[0] = max(told, heard)
	shmem.MaxReduce(g.pe.World(), g.found, g.found)
	room := int(g.found.Local()[0])
	if g.told, err = shmem.Alloc[pair](g.pe, room); err != nil {
		return err
	}
	g.heard, err = shmem.Alloc[pair](g.pe, room)
	return err
}

// exchange tells each PE its pairs of out, and returns what this one is told. It
// is collective, and the result is valid until the next collective.
func (g *graph) exchange(out [][]pair) []pair {
	told := g.told.Local()[:0]
	for p, pairs := range out {
		g.counts.Local()[p] = int64(len(pairs))
		told = append(told, pairs...) // within its room
	}
	shmem.AllToAllV(g.pe.World(), g.heard, g.told, g.counts, g.received)
	heard := 0
	for _, n := range g.received {
		heard += n
	}
	return g.heard.Local()[:heard]
}

// root returns the i-th root: any vertex that has a neighbour. It is collective.
func (g *graph) root(i int) (int32, error) {
	npes := g.pe.NPEs()
	random := rand.New(rand.NewPCG(693147180, uint64(i)))
	first := random.Int32N(int32(g.vertices()))
	for k := range g.vertices() {
		v := (int(first) + k) % g.vertices()
		degree := 0
		if v%npes == g.pe.MyPE() {
			degree = len(g.neighbours[v/npes])
		}
		if degree, err := yard.Sum(g.pe, degree); degree > 0 || err != nil {
			return int32(v), err
		}
	}
	return 0, errors.New("the graph has no edges")
}
