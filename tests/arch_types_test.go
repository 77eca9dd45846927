// SPDX-License-Identifier: BSD-3-Clause

package tests

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"sync"
)

// A unit is the files of a folder that are type-checked together: a package
// with its tests, or its external tests.
type unit struct {
	files []*file
	info  *types.Info
}

// A checker type-checks the packages of a tree, all build tags at once: where
// two files of a pair declare the same name, the first wins and the second is
// checked all the same. What fails to resolve is skipped without a word, since
// the compiler has the say in that; the checks need to know which variable a
// name means, and most types.
type checker struct {
	tree     *tree
	dirs     map[string][]*file
	library  map[string]*types.Package // by folder, without tests: what others import
	unitsOf  map[string][]unit
	standard types.Importer
}

func newChecker(t *tree) *checker {
	return &checker{
		tree:     t,
		dirs:     t.packages(),
		library:  map[string]*types.Package{},
		unitsOf:  map[string][]unit{},
		standard: standardLibrary(),
	}
}

// standardLibrary reads the standard library's source once for all trees.
var standardLibrary = sync.OnceValue(func() types.Importer {
	build.Default.CgoEnabled = false // or net's C files would need a run of the cgo tool
	return importer.ForCompiler(token.NewFileSet(), "source", nil)
})

// units type-checks the files of a folder.
func (c *checker) units(dir string, files []*file) []unit {
	if units, ok := c.unitsOf[dir]; ok {
		return units
	}
	byName := map[string][]*file{}
	var names []string
	for _, f := range files {
		name := f.syntax.Name.Name
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], f)
	}
	slices.Sort(names) // x before x_test
	var units []unit
	for _, name := range names {
		importPath := module + "/" + dir
		if strings.HasSuffix(name, "_test") {
			importPath += "_test"
		}
		u := unit{files: byName[name]}
		_, u.info = c.check(importPath, u.files, nil)
		units = append(units, u)
	}
	c.unitsOf[dir] = units
	return units
}

// check type-checks files as one package. Errors go to report, if that is not nil.
func (c *checker) check(importPath string, files []*file, report func(error)) (*types.Package, *types.Info) {
	info := &types.Info{
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Types:      map[ast.Expr]types.TypeAndValue{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	if report == nil {
		report = func(error) {}
	}
	conf := types.Config{Importer: c, FakeImportC: true, Error: report}
	var syntax []*ast.File
	for _, f := range files {
		syntax = append(syntax, f.syntax)
	}
	pkg, _ := conf.Check(importPath, c.tree.fset, syntax, info) // errors have gone to report
	return pkg, info
}

// Import implements [types.Importer]. Packages of other modules are empty:
// finding their source would take a run of the go command.
func (c *checker) Import(name string) (*types.Package, error) {
	dir, ours := strings.CutPrefix(name, module+"/")
	if !ours {
		if strings.Contains(strings.Split(name, "/")[0], ".") {
			return empty(name), nil
		}
		return c.standard.Import(name)
	}
	if pkg, ok := c.library[dir]; ok {
		return pkg, nil
	}
	c.library[dir] = empty(name) // ends a cycle, which the compiler reports
	files := slices.DeleteFunc(slices.Clone(c.dirs[dir]), (*file).isTest)
	if len(files) > 0 {
		c.library[dir], _ = c.check(name, files, nil)
	}
	return c.library[dir], nil
}

func empty(name string) *types.Package {
	pkg := types.NewPackage(name, name[strings.LastIndex(name, "/")+1:])
	pkg.MarkComplete()
	return pkg
}
