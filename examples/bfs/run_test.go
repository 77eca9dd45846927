// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

const noErrors = "Errors          = 0\n"

func TestBFS_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-scale 7 -edges 8 -roots 3", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-scale 2 -edges 2", noErrors, 5) // more PEs than vertices
}

func TestKronecker_ShuffledIsAPermutation(t *testing.T) {
	for scale := uint(1); scale <= 10; scale++ {
		seen := make([]bool, 1<<scale)
		for v := range seen {
			seen[kronecker{scale: scale}.shuffled(int32(v))] = true
		}
		if slices.Contains(seen, false) {
			t.Errorf("scale %d: no vertex goes to %d", scale, slices.Index(seen, false))
		}
	}
}

func TestLevelsOf(t *testing.T) {
	for _, c := range []struct {
		name          string
		parents, want []int32
		wrong         int
	}{
		{"a tree, and a vertex that was not reached", []int32{2, 0, 2, -1, 2}, []int32{1, 2, 0, -1, 1}, 0},
		{"a cycle beside it", []int32{2, 3, 2, 1, 3}, []int32{1, -1, 0, -1, -1}, 3},
		{"a parent that was not reached", []int32{2, 3, 2, -1, 2}, []int32{1, -1, 0, -1, 1}, 1},
		{"a root of which another is the parent", []int32{2, 0, 0, -1, 2}, []int32{-2, -2, -2, -1, -2}, 1},
	} {
		levels, wrong := levelsOf(c.parents, 2)
		if !slices.Equal(levels, c.want) || wrong != c.wrong {
			t.Errorf("%s: levels %v and %d wrong, want %v and %d", c.name, levels, wrong, c.want, c.wrong)
		}
	}
}

// What makes a tree of parents wrong is found on the PE of the vertex.
func TestValidate_FindsWrongParents(t *testing.T) {
	const npes = 2
	shmemtest.Run(t, npes, func(pe *shmem.PE) error {
		g, err := newGraph(pe, kronecker{scale: 6, edges: 8 << 6})
		if err != nil {
			return err
		}
		root, err := g.root(0)
		if err != nil {
			return err
		}
		g.search(root)
		parents := g.parents.Local()
		i := slices.IndexFunc(parents, func(p int32) bool { return p != 0 && p != root+1 }) // deeper than level 1
		v := int32(i*npes + pe.MyPE())
		kept := parents[i]
		for name, parent := range map[string]int32{"not reached": 0, "its own parent": v + 1} {
			pe.BarrierAll()
			if pe.MyPE() == 1 {
				parents[i] = parent
			}
			if wrong := g.validate(root); pe.MyPE() == 1 && wrong == 0 {
				t.Errorf("vertex %d was %s, and PE 1 finds nothing wrong", v, name)
			}
			parents[i] = kept
		}
		return nil
	})
}

func TestBFS_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	if out := p.Succeed(3, "-scale", "9"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	p.Refuse("-scale 27 is not in [1, 26]", 2, "-scale", "27")
}
