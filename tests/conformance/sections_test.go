// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// A section is a third-level section of OpenSHMEM 1.6.
type section struct{ number, title string }

var sections = [...]section{
	{"9.1.1", "init"},
	{"9.1.2", "my_pe"},
	{"9.1.3", "n_pes"},
	{"9.1.4", "finalize"},
	{"9.1.5", "query_initialized"},
	{"9.1.6", "global_exit"},
	{"9.1.7", "pe_accessible"},
	{"9.1.8", "addr_accessible"},
	{"9.1.9", "ptr"},
	{"9.1.10", "team_ptr"},
	{"9.1.11", "info_get_version"},
	{"9.1.12", "info_get_name"},
	{"9.1.13", "start_pes"},
	{"9.2.1", "init_thread"},
	{"9.2.2", "query_thread"},
	{"9.3.1", "malloc"},
	{"9.3.2", "free"},
	{"9.3.3", "realloc"},
	{"9.3.4", "align"},
	{"9.3.5", "malloc_with_hints"},
	{"9.3.6", "calloc"},
	{"9.4.1", "team_my_pe"},
	{"9.4.2", "team_n_pes"},
	{"9.4.3", "team_config_t"},
	{"9.4.4", "team_get_config"},
	{"9.4.5", "team_translate_pe"},
	{"9.4.6", "team_split_strided"},
	{"9.4.7", "team_split_2d"},
	{"9.4.8", "team_destroy"},
	{"9.5.1", "ctx_create"},
	{"9.5.2", "team_create_ctx"},
	{"9.5.3", "ctx_destroy"},
	{"9.5.4", "ctx_get_team"},
	{"9.6.1", "blocking remote memory access routines"},
	{"9.6.2", "nonblocking remote memory access routines"},
	{"9.7.1", "blocking atomic memory operations"},
	{"9.7.2", "nonblocking atomic memory operations"},
	{"9.8.1", "put_signal"},
	{"9.8.2", "put_signal_nbi"},
	{"9.8.3", "signal_add"},
	{"9.8.4", "signal_fetch"},
	{"9.8.5", "signal_set"},
	{"9.9.1", "ctx_session_config_t"},
	{"9.9.2", "ctx_session_start"},
	{"9.9.3", "ctx_session_stop"},
	{"9.10.1", "barrier_all"},
	{"9.10.2", "barrier"},
	{"9.10.3", "sync"},
	{"9.10.4", "sync_all"},
	{"9.10.5", "alltoall"},
	{"9.10.6", "alltoalls"},
	{"9.10.7", "broadcast"},
	{"9.10.8", "collect, fcollect"},
	{"9.10.9", "reductions"},
	{"9.10.10", "scan"},
	{"9.11.1", "wait_until"},
	{"9.11.2", "wait_until_all"},
	{"9.11.3", "wait_until_any"},
	{"9.11.4", "wait_until_some"},
	{"9.11.5", "wait_until_all_vector"},
	{"9.11.6", "wait_until_any_vector"},
	{"9.11.7", "wait_until_some_vector"},
	{"9.11.8", "test"},
	{"9.11.9", "test_all"},
	{"9.11.10", "test_any"},
	{"9.11.11", "test_some"},
	{"9.11.12", "test_all_vector"},
	{"9.11.13", "test_any_vector"},
	{"9.11.14", "test_some_vector"},
	{"9.11.15", "signal_wait_until"},
	{"9.12.1", "fence"},
	{"9.12.2", "quiet"},
	{"9.12.3", "pe_quiet"},
	{"9.12.4", "synchronization and communication ordering in openshmem"},
	{"9.13.1", "lock"},
}

// An absence is what the library does not have yet.
type absence struct {
	why   string   // what it needs
	names []string // what it will be called; once one of them exists, rows are due
}

// notYet has the sections without rows. It may only shrink.
var notYet = map[string]absence{}

// partly has the routines of sections with rows that are missing.
var partly = map[string]absence{}

// Every section has rows or says why not, and what is missing is missing.
func TestSections(t *testing.T) {
	have := map[string]bool{}
	for _, r := range rows() {
		have[r.sec] = true
	}
	declared := declarations(t, os.DirFS("../../shmem"))
	known := map[string]bool{}
	for _, s := range sections {
		known[s.number] = true
		a, missing := notYet[s.number]
		switch {
		case have[s.number] && missing:
			t.Errorf("%s %s has rows: take it out of notYet", s.number, s.title)
		case !have[s.number] && !missing:
			t.Errorf("%s %s has no rows and is not in notYet", s.number, s.title)
		}
		p, incomplete := partly[s.number]
		if incomplete && !have[s.number] {
			t.Errorf("%s %s is in partly and has no rows", s.number, s.title)
		}
		for _, name := range slices.Concat(a.names, p.names) {
			if declared[name] {
				t.Errorf("%s %s: package shmem has %s now: give it rows", s.number, s.title, name)
			}
		}
		if missing && (a.why == "" || a.names == nil) || incomplete && (p.why == "" || p.names == nil) {
			t.Errorf("%s %s is missing without a reason or a name", s.number, s.title)
		}
	}
	for number := range have {
		if !known[number] {
			t.Errorf("rows of %s: there is no such section", number)
		}
	}
	for _, list := range []map[string]absence{notYet, partly} {
		for number := range list {
			if !known[number] {
				t.Errorf("%s is said to be missing: there is no such section", number)
			}
		}
	}
}

// declarations returns the functions, methods and types of a package; methods also with
// their receivers: "PE.Quiet".
func declarations(t *testing.T, dir fs.FS) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := fs.Glob(dir, "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := fs.ReadFile(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				names[decl.Name.Name] = true
				if decl.Recv != nil {
					names[receiver(decl.Recv.List[0].Type)+"."+decl.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if typ, ok := spec.(*ast.TypeSpec); ok {
						names[typ.Name.Name] = true
					}
				}
			}
		}
	}
	if !names["BarrierAll"] || !names["Sym"] {
		t.Fatalf("%d declarations in package shmem, and not those that are known to be there", len(names))
	}
	return names
}

// receiver returns the name of a receiver's type.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
