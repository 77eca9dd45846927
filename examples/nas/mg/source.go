// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"cmp"
	"slices"

	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

// charges is how many points of the right-hand side are 1, and how many are −1.
const charges = 10

// candidate is a point of the cube and the number drawn for it.
type candidate struct {
	Value   float64
	X, Y, Z int64 // from 0
}

// source sets this PE's part of the right-hand side: of numbers drawn for all
// points of the cube, those with the largest become 1, those with the smallest
// −1, all others 0. Each PE finds the candidates among its own points, and then
// the winners among all PEs'. It is collective.
func source(pe *shmem.PE, v *grid, t torus, edge int) error {
	origin := t.at
	for axis := range origin {
		origin[axis] *= v.n[axis]
	}
	mine, err := shmem.Alloc[candidate](pe, 2*charges)
	if err != nil {
		return err
	}
	all, err := shmem.Alloc[candidate](pe, 2*charges*pe.NPEs())
	if err != nil {
		return err
	}
	copy(mine.Local(), extremes(origin, v.n, edge))
	shmem.FCollect(pe.World(), all, mine)

	found := slices.SortedFunc(slices.Values(all.Local()), byValue)
	clear(v.data)
	for i, c := range found {
		x, y, z := int(c.X)-origin[axisX]+1, int(c.Y)-origin[axisY]+1, int(c.Z)-origin[axisZ]+1
		if x < 1 || x > v.n[axisX] || y < 1 || y > v.n[axisY] || z < 1 || z > v.n[axisZ] {
			continue
		}
		switch {
		case i < charges:
			v.data[v.at(x, y, z)] = -1
		case i >= len(found)-charges:
			v.data[v.at(x, y, z)] = 1
		}
	}
	shmem.Free(all)
	shmem.Free(mine)
	return nil
}

// byValue orders candidates by their values. No two points have the same: the
// generator's period is longer.
func byValue(a, b candidate) int { return cmp.Compare(a.Value, b.Value) }

// extremes returns the points of a part of the cube that have the smallest and
// the largest numbers, charges of each. Points draw in the order of memory, so that a row's draws follow each other.
func extremes(origin, n [axes]int, edge int) []candidate {
	var found []candidate // sorted, 2·charges at most
	smallest, largest := 2., -1.
	for z := origin[axisZ]; z < origin[axisZ]+n[axisZ]; z++ {
		for y := origin[axisY]; y < origin[axisY]+n[axisY]; y++ {
			stream := nas.Random(seed).Skipped(uint64((z*edge+y)*edge + origin[axisX]))
			for x := range n[axisX] {
				value := stream.Next()
				if len(found) == 2*charges && smallest <= value && value <= largest {
					continue
				}
				c := candidate{value, int64(origin[axisX] + x), int64(y), int64(z)}
				i, _ := slices.BinarySearchFunc(found, c, byValue)
				found = slices.Insert(found, i, c)
				if len(found) > 2*charges {
					found = slices.Delete(found, charges, charges+1)
				}
				if len(found) == 2*charges {
					smallest, largest = found[charges-1].Value, found[charges].Value
				}
			}
		}
	}
	return found
}
