// SPDX-License-Identifier: BSD-3-Clause

package tests

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// A layer is a folder and what the packages in it and below it may import,
// unless a deeper layer says otherwise. The standard library and internal/...
// are open to all; tests may import any package of the module.
type layer struct {
	dir     string
	imports []string // folders, each meaning this package alone; "x/..." means x and all below
	modules []string // third-party packages
	// only names the files that may import what files names: a pattern of
	// path.Match on the file's name.
	only  string
	files []string
	cgo   bool // import "C" is allowed
}

const (
	errgroup = "golang.org/x/sync/errgroup"
	cpu      = "golang.org/x/sys/cpu"
	unix     = "golang.org/x/sys/unix"
	avo      = "github.com/mmcloughlin/avo/..."
	pflag    = "github.com/spf13/pflag"
	testify  = "github.com/stretchr/testify/..."
)

// layers is the table of who may import whom: what stands on what, from the
// bottom to the top. Whoever adds a folder adds a line.
var layers = [...]layer{
	{dir: "internal", imports: []string{"internal/..."}, modules: []string{cpu, unix}},
	{dir: "internal/testenv", modules: []string{testify}},

	{dir: "fabric"},
	{dir: "fabric/fabrictest", imports: []string{"fabric"}, modules: []string{testify, errgroup}},
	{dir: "fabric/loop", imports: []string{"fabric"}},
	{dir: "fabric/shm", imports: []string{"fabric"}, modules: []string{unix}},
	{dir: "fabric/joint", imports: []string{"fabric"}},
	{dir: "fabric/ofi", imports: []string{"fabric"}, modules: []string{unix}, cgo: true},

	{dir: "fabric/ofi/fabricinfo", imports: []string{"fabric/ofi"}},

	{dir: "symheap", imports: []string{"fabric"}},
	{dir: "collectives", imports: []string{"fabric", "symheap"}},

	{dir: "launcher/pmi", imports: []string{"launcher/pmi/pmix"}},
	{dir: "launcher/pmi/pmix", cgo: true},
	{dir: "launcher", imports: []string{"launcher/pmi"}, modules: []string{errgroup, unix}},
	{dir: "launcher/gorun", imports: []string{"launcher", "launcher/pmi"}, modules: []string{pflag}},

	{
		dir:     "shmem",
		imports: []string{"fabric", "symheap", "collectives", "launcher/pmi"},
		modules: []string{errgroup, unix},
		only:    "providers*.go",
		files:   []string{"fabric/loop", "fabric/shm", "fabric/ofi", "fabric/joint"},
	},
	{
		dir:     "shmem/shmemtest",
		imports: []string{"fabric", "symheap", "collectives", "shmem", "fabric/loop"},
		modules: []string{errgroup, testify},
	},

	{
		dir:     "examples",
		imports: []string{"fabric", "symheap", "collectives", "shmem"},
		modules: []string{errgroup, cpu},
	},
	{dir: "examples/nas/_asm", imports: []string{"examples/nas/_asm/..."}, modules: []string{avo}},
	{dir: "examples/internal/jobtest", imports: []string{"fabric/loop", "shmem", "shmem/shmemtest"}},
	{dir: "tests", imports: []string{"..."}, modules: []string{errgroup, unix, testify}},
	{dir: ".ci", imports: nil},
}

// testModules are what test files may import beyond the module and the
// standard library.
var testModules = [...]string{errgroup, unix, testify}

// layerOf returns the deepest layer that holds dir.
func layerOf(layers []layer, dir string) (found layer, ok bool) {
	for _, l := range layers {
		if within(dir, l.dir) && len(l.dir) >= len(found.dir) {
			found, ok = l, true
		}
	}
	return found, ok
}

// within reports whether dir is root or below it.
func within(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, root+"/")
}

// matches reports whether a pattern of the table names an import.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if root, all := strings.CutSuffix(p, "..."); all {
			return root == "" || within(name, strings.TrimSuffix(root, "/"))
		}
		return p == name
	})
}

// checkImports holds every file to the table, to unsafe in *_unsafe.go only,
// and to cgo in its two places.
func (t *tree) checkImports(layers []layer) []problem {
	var found []problem
	for _, f := range t.files {
		if f.syntax == nil {
			continue
		}
		l, ok := layerOf(layers, f.dir())
		if !ok {
			found = append(found, problem{f.path, 0, "its folder is in no layer: add it to the table in tests/arch_imports_test.go"})
			continue
		}
		for _, spec := range f.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the parser has refused it
			}
			if why := refuse(l, f, name); why != "" {
				found = append(found, t.at(f, spec.Pos(), "%s", why))
			}
		}
	}
	return found
}

// refuse says why f, a file of layer l, may not import name; "" if it may.
func refuse(l layer, f *file, name string) string {
	base := path.Base(f.path)
	inTree, isOurs := strings.CutPrefix(name, module+"/")
	switch {
	case name == "C":
		if !l.cgo {
			return "cgo is for fabric/ofi and launcher/pmi/pmix"
		}
	case name == "unsafe":
		if !strings.Contains(base, "_unsafe.") && !strings.Contains(base, "_unsafe_") {
			return "unsafe is for files named *_unsafe.go"
		}
	case isOurs:
		ok := f.isTest() ||
			matches([]string{"internal/..."}, inTree) ||
			matches(l.imports, inTree) ||
			l.dir == "examples" && internalTo(f.dir(), inTree) ||
			f.dir() == l.dir && matches(l.files, inTree) && match(l.only, base)
		if ok {
			return ""
		}
		if matches(l.files, inTree) {
			return l.dir + " imports " + inTree + " in " + l.only + " only"
		}
		return l.dir + " may not import " + inTree
	case strings.Contains(strings.Split(name, "/")[0], "."):
		if !matches(l.modules, name) && (!f.isTest() || !matches(testModules[:], name)) {
			return l.dir + " may not import " + name
		}
	}
	return ""
}

func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// internalTo reports whether name is an internal package of examples that dir
// may import by Go's own rule.
func internalTo(dir, name string) bool {
	parent, _, ok := strings.Cut(name, "/internal/")
	return ok && within(parent, "examples") && within(dir, parent)
}

func importFixtures() []fixture {
	imports := func(names ...string) string {
		var s strings.Builder
		for _, name := range names {
			s.WriteString("import _ " + strconv.Quote(name) + "\n")
		}
		return s.String()
	}
	ours := func(names ...string) string {
		for i := range names {
			names[i] = module + "/" + names[i]
		}
		return imports(names...)
	}
	return []fixture{
		{
			name: "imports as drawn are fine",
			files: map[string]string{
				"fabric/doc.go":               ours("internal/segment"),
				"fabric/shm/doc.go":           ours("fabric") + imports("golang.org/x/sys/unix"),
				"symheap/doc.go":              ours("fabric"),
				"collectives/doc.go":          ours("symheap", "fabric"),
				"shmem/doc.go":                ours("collectives", "launcher/pmi"),
				"shmem/providers_linux.go":    ours("fabric/shm"),
				"shmem/api_test.go":           ours("examples/nas/is", "shmem/shmemtest"),
				"shmem/shmemtest/doc.go":      ours("shmem", "fabric/loop"),
				"launcher/doc.go":             ours("launcher/pmi"),
				"launcher/gorun/doc.go":       ours("launcher") + imports("github.com/spf13/pflag"),
				"examples/nas/is/doc.go":      ours("shmem", "examples/nas/internal/npb"),
				"tests/conformance/doc.go":    ours("fabric/loop") + imports("github.com/stretchr/testify/require"),
				"fabric/ofi/shim_unsafe.go":   imports("C", "unsafe"),
				"fabric/shm/map_unsafe.go":    imports("unsafe"),
				"shmem/x_unsafe_linux.go":     imports("unsafe"),
				"fabric/ofi/doc.go":           "",
				"internal/testenv/doc.go":     ours("internal/env"),
				"fabric/loop/testdata/a.go":   spdxLine + "no Go at all",
				"symheap/heap_test.go":        ours("fabric/loop") + imports("golang.org/x/sync/errgroup"),
				"symheap/more_unsafe_test.go": imports("unsafe"),
			},
		},
		{
			name:  "upwards",
			files: map[string]string{"fabric/x.go": ours("symheap"), "symheap/x.go": ours("collectives"), "internal/a/x.go": ours("fabric")},
			want: []string{
				"fabric/x.go:5: fabric may not import symheap",
				"internal/a/x.go:5: internal may not import fabric",
				"symheap/x.go:5: symheap may not import collectives",
			},
		},
		{
			name:  "a provider from another, and from below shmem",
			files: map[string]string{"fabric/shm/x.go": ours("fabric/loop"), "collectives/x.go": ours("fabric/shm")},
			want: []string{
				"collectives/x.go:5: collectives may not import fabric/shm",
				"fabric/shm/x.go:5: fabric/shm may not import fabric/loop",
			},
		},
		{
			name:  "a provider in shmem outside providers*.go",
			files: map[string]string{"shmem/init.go": ours("fabric/shm"), "shmem/doc.go": ""},
			want:  []string{"shmem/init.go:4: shmem imports fabric/shm in providers*.go only"},
		},
		{
			name:  "a build tag hides no import",
			files: map[string]string{"collectives/x_windows.go": "", "collectives/doc.go": "", "collectives/y.go": spdxLine + "\n//go:build never\n\npackage collectives\n\n" + ours("shmem")},
			want:  []string{"collectives/y.go:7: collectives may not import shmem"},
		},
		{
			name:  "the launcher knows neither shmem nor fabric",
			files: map[string]string{"launcher/x.go": ours("shmem"), "launcher/pmi/x.go": ours("fabric"), "launcher/gorun/x.go": ours("fabric/shm")},
			want: []string{
				"launcher/gorun/x.go:5: launcher/gorun may not import fabric/shm",
				"launcher/pmi/x.go:5: launcher/pmi may not import fabric",
				"launcher/x.go:5: launcher may not import shmem",
			},
		},
		{
			name:  "third-party packages where they are not wanted",
			files: map[string]string{"launcher/pmi/x.go": imports(unix), "shmem/x.go": imports("github.com/stretchr/testify/require"), "fabric/x_test.go": imports("github.com/other/thing")},
			want: []string{
				"fabric/x_test.go:5: fabric may not import github.com/other/thing",
				"launcher/pmi/x.go:5: launcher/pmi may not import golang.org/x/sys/unix",
				"shmem/x.go:5: shmem may not import github.com/stretchr/testify/require",
			},
		},
		{
			name:  "an example that imports another's internals or a provider",
			files: map[string]string{"examples/hello/x.go": ours("examples/nas/internal/npb"), "examples/ring/x.go": ours("fabric/shm")},
			want: []string{
				"examples/hello/x.go:5: examples may not import examples/nas/internal/npb",
				"examples/ring/x.go:5: examples may not import fabric/shm",
			},
		},
		{
			name:  "unsafe and cgo outside their files",
			files: map[string]string{"fabric/shm/map.go": imports("unsafe"), "shmem/x_unsafe.go": imports("C"), "collectives/x_test.go": imports("unsafe")},
			want: []string{
				"collectives/x_test.go:5: unsafe is for files named *_unsafe.go",
				"fabric/shm/map.go:5: unsafe is for files named *_unsafe.go",
				"shmem/x_unsafe.go:5: cgo is for fabric/ofi and launcher/pmi/pmix",
			},
		},
		{
			name:  "a folder that no layer holds",
			files: map[string]string{"util/x.go": ""},
			want:  []string{"util/x.go: its folder is in no layer: add it to the table in tests/arch_imports_test.go"},
		},
	}
}
