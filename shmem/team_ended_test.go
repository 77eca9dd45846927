// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// collectiveCalls are all functions that take a team, by their names.
func collectiveCalls(team *shmem.Team, x, y shmem.Sym[uint64]) map[string]func() {
	counts := shmem.Sym[int64]{}
	return map[string]func(){
		"AllToAll":         func() { shmem.AllToAll(team, x, y) },
		"AllToAllAsync":    func() { shmem.AllToAllAsync(team, x, y) },
		"AllToAllStrided":  func() { shmem.AllToAllStrided(team, x, y, 1, 1, 1) },
		"AllToAllV":        func() { shmem.AllToAllV(team, x, y, counts, nil) },
		"AndReduce":        func() { shmem.AndReduce(team, x, y) },
		"AndReduceAsync":   func() { shmem.AndReduceAsync(team, x, y) },
		"Broadcast":        func() { shmem.Broadcast(team, x, y, 0) },
		"BroadcastAsync":   func() { shmem.BroadcastAsync(team, x, y, 0) },
		"Collect":          func() { shmem.Collect(team, x, y) },
		"FCollect":         func() { shmem.FCollect(team, x, y) },
		"MaxReduce":        func() { shmem.MaxReduce(team, x, y) },
		"MaxReduceAsync":   func() { shmem.MaxReduceAsync(team, x, y) },
		"MaxReduceScatter": func() { shmem.MaxReduceScatter(team, x, y) },
		"MinReduce":        func() { shmem.MinReduce(team, x, y) },
		"MinReduceAsync":   func() { shmem.MinReduceAsync(team, x, y) },
		"MinReduceScatter": func() { shmem.MinReduceScatter(team, x, y) },
		"OrReduce":         func() { shmem.OrReduce(team, x, y) },
		"OrReduceAsync":    func() { shmem.OrReduceAsync(team, x, y) },
		"ProdReduce":       func() { shmem.ProdReduce(team, x, y) },
		"ProdReduceAsync":  func() { shmem.ProdReduceAsync(team, x, y) },
		"SumExclusiveScan": func() { shmem.SumExclusiveScan(team, x, y) },
		"SumInclusiveScan": func() { shmem.SumInclusiveScan(team, x, y) },
		"SumReduce":        func() { shmem.SumReduce(team, x, y) },
		"SumReduceAsync":   func() { shmem.SumReduceAsync(team, x, y) },
		"SumReduceScatter": func() { shmem.SumReduceScatter(team, x, y) },
		"XorReduce":        func() { shmem.XorReduce(team, x, y) },
		"XorReduceAsync":   func() { shmem.XorReduceAsync(team, x, y) },
	}
}

// A collective on a destroyed or a nil team is refused by its own name, before anything else
// is looked at.
func TestTeam_EndedTeamsAreRefusedByTheCallsName(t *testing.T) {
	shmemtest.Run(t, 2, func(pe *shmem.PE) error {
		x := alloc[uint64](pe, 3) // no multiple of the team's PEs
		team, err := pe.World().SplitStrided(0, 1, 2)
		if err != nil {
			return err
		}
		team.Destroy()
		for end, team := range map[string]*shmem.Team{"was destroyed": team, "is nil": nil} {
			for name, call := range collectiveCalls(team, x, x) {
				got := panicText(call)
				if !strings.HasPrefix(got, "shmem: "+name+": ") && !strings.HasPrefix(got, "shmem: "+name+" by ") || !strings.Contains(got, "the team "+end) || !strings.Contains(got, "team_ended_test.go:") {
					return fmt.Errorf("%s on a team that %s gives %q", name, end, got)
				}
			}
		}
		return nil
	})
}

// The table above has every function that takes a team.
func TestTeam_CollectivesAreAllTried(t *testing.T) {
	tried := collectiveCalls(nil, shmem.Sym[uint64]{}, shmem.Sym[uint64]{})
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range syntax.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || !takesTeam(f) {
				continue
			}
			found++
			if tried[f.Name.Name] == nil {
				t.Errorf("%s takes a team: add it to the calls above", f.Name.Name)
			}
		}
	}
	if found < len(tried) {
		t.Errorf("found %d functions that take a team, and try %d", found, len(tried))
	}
}

func takesTeam(f *ast.FuncDecl) bool {
	return len(f.Type.Params.List) > 0 && pointsTo(f.Type.Params.List[0].Type, "Team")
}
