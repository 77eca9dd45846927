// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

// search finds the parents of all vertices that root leads to. It is collective.
func (g *graph) search(root int32) {
	me, npes := g.pe.MyPE(), g.pe.NPEs()
	parents := g.parents.Local()
	clear(parents)
	var level []int32 // this PE's vertices that are new
	if int(root)%npes == me {
		parents[int(root)/npes] = root + 1
		level = append(level, root)
	}
	for out := make([][]pair, npes); ; {
		for p := range out {
			out[p] = out[p][:0]
		}
		for _, v := range level {
			for _, w := range g.neighbours[int(v)/npes] {
				out[int(w)%npes] = append(out[int(w)%npes], pair{w, v})
			}
		}
		level = level[:0]
		for _, p := range g.exchange(out) {
			if parent := &parents[int(p.vertex)/npes]; *parent == 0 {
				*parent = p.neighbour + 1
				level = append(level, p.vertex)
			}
		}
		g.found.Local()[0] = int64(len(level))
		shmem.SumReduce(g.pe.World(), g.found, g.found) // and nobody is told anything before all have listened
		if g.found.Local()[0] == 0 {
			return
		}
	}
}

// reachedEdges returns this PE's part of the edges between vertices that the
// search has reached, as Graph500 counts them: the owner of the lesser end does.
func (g *graph) reachedEdges() (n int) {
	for i, parent := range g.parents.Local() {
		v := int32(i*g.pe.NPEs() + g.pe.MyPE())
		for _, w := range g.neighbours[i] {
			if parent != 0 && v < w {
				n++
			}
		}
	}
	return n
}

// validate returns how many of Graph500's conditions the last search's parents
// break for this PE's vertices: that they make a tree, whose edges are the
// graph's, and that an edge of the graph joins two vertices of the same level or
// of two successive ones, or two that were not reached. It is collective.
func (g *graph) validate(root int32) (wrong int) {
	npes := g.pe.NPEs()
	shmem.FCollect(g.pe.World(), g.all, g.parents)
	parents := make([]int32, g.vertices())
	for v := range parents {
		parents[v] = g.all.Local()[v%npes*g.parents.Len()+v/npes] - 1
	}
	levels, wrong := levelsOf(parents, root)
	if g.pe.MyPE() != 0 {
		wrong = 0 // all PEs have found the same
	}
	for i, neighbours := range g.neighbours {
		v := i*npes + g.pe.MyPE()
		if v >= g.vertices() {
			break
		}
		if p := parents[v]; p >= 0 && v != int(root) && !slices.Contains(neighbours, p) {
			wrong++
		}
		for _, w := range neighbours {
			if difference := levels[v] - levels[w]; (levels[v] < 0) != (levels[w] < 0) || difference < -1 || difference > 1 {
				wrong++
			}
		}
	}
	return wrong
}

// levelsOf returns how far each vertex is from root if one follows the parents,
// or -1 for those that have none, and how many do not lead to the root.
func levelsOf(parents []int32, root int32) (levels []int32, wrong int) {
	const none, unknown, onPath = -1, -2, -3
	levels = make([]int32, len(parents))
	for v, p := range parents {
		levels[v] = unknown
		if p < 0 {
			levels[v] = none
		}
	}
	if parents[root] != root {
		return levels, 1
	}
	levels[root] = 0
	var path []int32
	for v := range parents {
		path = path[:0]
		w := int32(v)
		for ; levels[w] == unknown; w = parents[w] {
			levels[w] = onPath
			path = append(path, w)
		}
		level := levels[w]
		for _, u := range slices.Backward(path) {
			if level < 0 { // the path ends where nobody was, or in itself
				levels[u] = none
				wrong++
				continue
			}
			level++
			levels[u] = level
		}
	}
	return levels, wrong
}
