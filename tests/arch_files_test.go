// SPDX-License-Identifier: BSD-3-Clause

package tests

import (
	"bytes"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxLines is what a source file may have: one that grows past it tells more
// than one story.
const maxLines = 700

// machinePaths finds what holds on one machine only. The strings are cut so
// that this file passes its own check.
var machinePaths = regexp.MustCompile(
	`(^|[^A-Za-z0-9_.])/(` + `work|root|home)/` + `|\.\./` + `(shared|\.library)`)

// checkFiles looks at every file: licence line, length, paths of one machine,
// and that package fabric starts no goroutine.
func (t *tree) checkFiles() []problem {
	var found []problem
	for _, f := range t.files {
		if isSource(f) {
			if !hasLicence(f) {
				found = append(found, problem{f.path, 0, "no SPDX licence line at its start"})
			}
			if n := bytes.Count(f.source, []byte("\n")); n > maxLines && !isGenerated(f) {
				found = append(found, t.lineProblem(f, n, "more than 700 lines: split it by its stories"))
			}
		}
		for i, line := range strings.Split(string(f.source), "\n") {
			if word := machinePaths.FindString(line); word != "" {
				found = append(found, t.lineProblem(f, i+1, "a path of one machine: "+strings.TrimSpace(word)))
			}
		}
		if f.syntax != nil && misplacedPlatform(f) {
			found = append(found, problem{f.path, 0, "a platform counts only at the end of a file's name: x_unsafe_linux.go"})
		}
		if f.dir() == "fabric" && f.syntax != nil && !f.isTest() {
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				if g, ok := n.(*ast.GoStmt); ok {
					found = append(found, t.at(f, g.Pos(), "package fabric holds interfaces and values only: no goroutine"))
				}
				return true
			})
		}
	}
	return found
}

func (t *tree) lineProblem(f *file, line int, text string) problem {
	return problem{f.path, line, text}
}

func isSource(f *file) bool {
	return slices.Contains([]string{".go", ".s", ".c", ".h", ".sh"}, path.Ext(f.path)) ||
		bytes.HasPrefix(f.source, []byte("#!"))
}

// isGenerated reports whether f says so in the line that Go tools look for.
func isGenerated(f *file) bool {
	return regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`).Match(f.source)
}

// misplacedPlatform reports whether f has a platform in its name that the go
// command does not see, and no build constraint that says it instead.
func misplacedPlatform(f *file) bool {
	words := strings.Split(strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test"), "_")
	for _, word := range words[1 : max(2, len(words))-1] {
		switch word {
		case "linux", "darwin", "windows", "amd64", "arm64":
			if last := words[len(words)-1]; word == "linux" && (last == "amd64" || last == "arm64") {
				continue
			}
			return !bytes.Contains(f.source, []byte("\n//go:build "))
		}
	}
	return false
}

// hasLicence wants the line first, or second below a script's #! line. Go
// files have it in one form.
func hasLicence(f *file) bool {
	lines := strings.SplitN(string(f.source), "\n", 3)
	if path.Ext(f.path) == ".go" {
		return lines[0]+"\n" == spdxLine
	}
	if strings.HasPrefix(lines[0], "#!") {
		lines = lines[1:]
	}
	return strings.Contains(lines[0], "SPDX-License-Identifier: BSD-3-Clause")
}

// checkPackageComments wants one package comment a package, in doc.go if there
// is one. Tests need none.
func (t *tree) checkPackageComments() []problem {
	var found []problem
	dirs := t.packages()
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		files := slices.DeleteFunc(slices.Clone(dirs[dir]), (*file).isTest)
		if len(files) == 0 {
			continue
		}
		want := "" // the file that has to have it
		var have []string
		for _, f := range files {
			if path.Base(f.path) == "doc.go" {
				want = f.path
			}
			if f.syntax.Doc != nil && !onlyDirectives(f.syntax.Doc) {
				have = append(have, f.path)
			}
		}
		switch {
		case len(have) == 0:
			found = append(found, problem{dir, 0, "no package comment"})
		case len(have) > 1:
			found = append(found, problem{dir, 0, "package comments in several files: " + strings.Join(have, ", ")})
		case want != "" && have[0] != want:
			found = append(found, problem{have[0], 0, "the package comment belongs in doc.go"})
		}
	}
	return found
}

// onlyDirectives reports whether a comment says nothing to a reader.
func onlyDirectives(doc *ast.CommentGroup) bool {
	return strings.TrimSpace(doc.Text()) == ""
}

func fileFixtures() []fixture {
	long := strings.Repeat("// line\n", maxLines)
	return []fixture{
		{
			name: "files as they should be",
			files: map[string]string{
				"fabric/doc.go":       "func f() {}\n",
				"fabric/a.go":         "func g() {}\n",
				"fabric/a_test.go":    "func h() { go f() }\n",
				"internal/spin/p.s":   spdxLine + "TEXT ·pause(SB)\n",
				"tests/peers/run.sh":  "#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\n",
				"README.md":           "see https://example.org/work/and/" + "home/ and ./work/\n",
				"docs/picture.png":    "\x00 /" + "root/",
				"docs/long.md":        long + long,
				"tests/only_test.go":  spdxLine + "\npackage tests\n",
				"symheap/x_linux.go":  spdxLine + "\n// Package symheap has its comment in one of a pair.\npackage symheap\n",
				"symheap/x_darwin.go": spdxLine + "\npackage symheap\n",
			},
		},
		{
			name: "no licence line",
			files: map[string]string{
				"fabric/x.go":             "// SPDX-License-Identifier: MIT\n\n// Package fabric is another's.\npackage fabric\n",
				"internal/spin/p.s":       "TEXT ·pause(SB)\n",
				"tests/peers/run":         "#!/bin/sh\nset -eu\n",
				"tests/x/testdata/bad.go": "package bad\n",
			},
			want: []string{
				"fabric/x.go: no SPDX licence line at its start",
				"internal/spin/p.s: no SPDX licence line at its start",
				"tests/peers/run: no SPDX licence line at its start",
				"tests/x/testdata/bad.go: no SPDX licence line at its start",
			},
		},
		{
			name:  "a file of many stories",
			files: map[string]string{"fabric/x.go": long},
			want:  []string{"fabric/x.go:704: more than 700 lines: split it by its stories"},
		},
		{
			name:  "paths of one machine",
			files: map[string]string{"docs/a.md": "fine\nin /" + "work/main\n", "fabric/x.go": "// See ../" + "shared/docs.\n"},
			want: []string{
				"docs/a.md:2: a path of one machine: /" + "work/",
				"fabric/x.go:5: a path of one machine: ../" + "shared",
			},
		},
		{
			name: "a platform where the go command does not look for it",
			files: map[string]string{
				"fabric/doc.go":                "",
				"fabric/a_linux_unsafe.go":     "",
				"fabric/b_unsafe_linux.go":     "",
				"fabric/c_linux_amd64_test.go": "",
				"fabric/d_arm64_more_test.go":  "",
				"fabric/e_amd64_unsafe.go":     spdxLine + "\n//go:build amd64\n\npackage fabric\n",
			},
			want: []string{
				"fabric/a_linux_unsafe.go: a platform counts only at the end of a file's name: x_unsafe_linux.go",
				"fabric/d_arm64_more_test.go: a platform counts only at the end of a file's name: x_unsafe_linux.go",
			},
		},
		{
			name:  "a goroutine in package fabric",
			files: map[string]string{"fabric/x.go": "func f() {\n\tgo f()\n}\n"},
			want:  []string{"fabric/x.go:6: package fabric holds interfaces and values only: no goroutine"},
		},
		{
			name: "no package comment, or several, or in the wrong file",
			files: map[string]string{
				"fabric/a.go":        spdxLine + "\npackage fabric\n",
				"symheap/a.go":       spdxLine + "\n// Package symheap is one.\npackage symheap\n",
				"symheap/b.go":       spdxLine + "\n// Package symheap is another.\npackage symheap\n",
				"collectives/a.go":   spdxLine + "\n// Package collectives is here.\npackage collectives\n",
				"collectives/doc.go": spdxLine + "\npackage collectives\n",
			},
			want: []string{
				"collectives/a.go: the package comment belongs in doc.go",
				"fabric: no package comment",
				"symheap: package comments in several files: symheap/a.go, symheap/b.go",
			},
		},
	}
}
