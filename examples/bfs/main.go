// SPDX-License-Identifier: BSD-3-Clause

// Bfs searches a graph breadth first by the rules of Graph500: a Kronecker graph of
// 2^scale vertices and 16 edges for each, from several roots, each search validated.
//
// It teaches the exchange of what nobody can foresee. Vertices are dealt to the PEs,
// and a search goes level by level: each PE tells the owners of its new vertices'
// neighbours by one AllToAllV, whose counts differ for each pair of PEs and each
// level, and learns how much has come from whom. Nobody asks whether a neighbour is
// known already: to ask takes as long as to tell. A reduction of how many vertices
// are new says when there is nothing left, and keeps the levels apart.
//
//	gorun -np 4 bfs -scale 16
package main

import (
	"flag"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

func main() { command.Main(run) }

const maxScale = 26

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bfs", flag.ContinueOnError)
	scale := flags.Uint("scale", 13, "base-two `logarithm` of the vertices")
	factor := flags.Int("edges", 16, "`edges` for each vertex")
	roots := flags.Int("roots", 8, "`searches`; 64 by the rules")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *scale < 1 || *scale > maxScale || *factor < 1 || *factor > 64 || *roots < 1 {
		return command.Usagef("-scale %d is not in [1, %d], -edges %d is not in [1, 64], or -roots %d is less than 1",
			*scale, maxScale, *factor, *roots)
	}

	g, err := newGraph(pe, kronecker{*scale, *factor << *scale})
	if err != nil {
		return err
	}
	wrong, inverse, traversed := 0, 0., 0
	for i := range *roots {
		root, err := g.root(i)
		if err != nil {
			return err
		}
		seconds, err := yard.Seconds(pe, func() { g.search(root) })
		if err != nil {
			return err
		}
		edges, err := yard.Sum(pe, g.reachedEdges())
		if err != nil {
			return err
		}
		wrong += g.validate(root)
		traversed += edges
		inverse += seconds / float64(edges)
	}
	return yard.Report(pe, out, wrong,
		yard.Line{Key: "Scale", Format: "%d", Value: *scale},
		yard.Line{Key: "Searches", Format: "%d", Value: *roots},
		yard.Line{Key: "Edges traversed", Format: "%d", Value: traversed},
		yard.Line{Key: "Harmonic MTEPS", Format: "%.3f", Value: float64(*roots) / inverse / 1e6},
	)
}
