// SPDX-License-Identifier: BSD-3-Clause

package tests

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// module is the path that go.mod gives this module.
const module = "github.com/goshmem/goshmem"

// The checks read files and start no process: go test sees which files a test
// opens and which folders it lists, so its cached result ends with any change
// of the tree. It cannot see what go list reads.

// A tree is a module's files, Go files of every build tag included.
type tree struct {
	fset  *token.FileSet
	files []*file
}

type file struct {
	path   string // slash-separated, from the module's root
	source []byte
	syntax *ast.File // nil if it is no Go source of a package
}

func (f *file) dir() string { return path.Dir(f.path) }

func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// A problem is one violation of one rule.
type problem struct {
	path string
	line int // 0: the file as a whole
	text string
}

func (p problem) String() string {
	if p.line == 0 {
		return fmt.Sprintf("%s: %s", p.path, p.text)
	}
	return fmt.Sprintf("%s:%d: %s", p.path, p.line, p.text)
}

// at reports a problem at a place in f.
func (t *tree) at(f *file, pos token.Pos, format string, args ...any) problem {
	return problem{f.path, t.fset.Position(pos).Line, fmt.Sprintf(format, args...)}
}

// readTree reads all text files below the root of fsys. Folders of test data
// are read too, but not parsed: their Go files may be wrong on purpose.
func readTree(fsys fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == ".git" || name == "bin" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		source, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(source, 0) >= 0 {
			return nil // a program or a picture
		}
		f := &file{path: name, source: source}
		if strings.HasSuffix(name, ".go") && !slices.Contains(strings.Split(name, "/"), "testdata") {
			f.syntax, err = parser.ParseFile(t.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
		}
		t.files = append(t.files, f)
		return nil
	})
	return t, err
}

// packages returns the parsed files by folder.
func (t *tree) packages() map[string][]*file {
	dirs := map[string][]*file{}
	for _, f := range t.files {
		if f.syntax != nil {
			dirs[f.dir()] = append(dirs[f.dir()], f)
		}
	}
	return dirs
}

// check runs every check and returns the problems in the order of their text.
func (t *tree) check(rules rules) []string {
	var found []problem
	found = append(found, t.checkImports(rules.layers)...)
	found = append(found, t.checkFiles()...)
	found = append(found, t.checkPackageComments()...)
	found = append(found, t.checkState(rules.state)...)
	found = append(found, t.checkDocuments()...)
	found = append(found, t.checkGate()...)
	var texts []string
	for _, p := range found {
		texts = append(texts, p.String())
	}
	slices.Sort(texts)
	return texts
}

// rules are what differs between this tree and the fixtures.
type rules struct {
	layers []layer
	state  map[string]string
}

// TestArchitecture holds the tree to the rules of CONTRIBUTING.md that a program can check.
func TestArchitecture(t *testing.T) {
	tree, err := readTree(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	if dirs := tree.packages(); len(dirs["fabric"]) == 0 || len(dirs["tests"]) == 0 {
		t.Fatalf("%d files read, but those of fabric and tests are not among them", len(tree.files))
	}
	for _, p := range tree.check(rules{layers[:], allowedState}) {
		t.Error(p)
	}
}

// TestArchitecture_FindsViolations shows for each rule that breaking it fails.
func TestArchitecture_FindsViolations(t *testing.T) {
	names := map[string]bool{}
	for _, fixtures := range [][]fixture{importFixtures(), fileFixtures(), stateFixtures(), docsFixtures(), gateFixtures()} {
		for _, fx := range fixtures {
			if names[fx.name] {
				t.Errorf("two fixtures are named %q", fx.name)
			}
			names[fx.name] = true
			t.Run(fx.name, func(t *testing.T) {
				tree, err := readTree(fx.fsys())
				if err != nil {
					t.Fatal(err)
				}
				got := tree.check(rules{layers[:], fx.state})
				if !slices.Equal(got, fx.want) {
					t.Errorf("got:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(fx.want, "\n\t"))
				}
			})
		}
	}
}

// A fixture is a small tree and what the checks must say about it.
type fixture struct {
	name  string
	files map[string]string // by path; Go files are completed by fsys
	state map[string]string // variables allowed
	want  []string
}

const spdxLine = "// SPDX-License-Identifier: BSD-3-Clause\n"

// fsys returns the fixture's tree. A Go file without a package clause gets the
// licence line, a package comment and the clause before its first line, all
// on lines of their own: its text starts at line 4, and at line 5 with the
// comment that doc.go and the only file of a folder get.
func (fx fixture) fsys() fs.FS {
	fsys := fstest.MapFS{}
	goFiles := map[string]int{}
	for name := range fx.files {
		if strings.HasSuffix(name, ".go") {
			goFiles[path.Dir(name)]++
		}
	}
	for name, text := range fx.files {
		if strings.HasSuffix(name, ".go") && !strings.Contains(text, "package ") {
			pkg := path.Base(path.Dir(name))
			head := spdxLine + "\n"
			if goFiles[path.Dir(name)] == 1 || path.Base(name) == "doc.go" {
				head += "// Package " + pkg + " is a fixture.\n"
			}
			text = head + "package " + pkg + "\n" + text
		}
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}
