// SPDX-License-Identifier: BSD-3-Clause

package tests

import (
	"errors"
	"go/parser"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

var relativeLink = regexp.MustCompile(`\]\(([\w./-]+)(#[\w-]*)?\)`)

// checkDocuments follows the relative links in Markdown files and type-checks
// their whole programs: blocks fenced as go that have a package clause.
func (t *tree) checkDocuments() []problem {
	var found []problem
	c := newChecker(t)
	for _, f := range t.files {
		if path.Ext(f.path) != ".md" {
			continue
		}
		fenced := false
		for i, line := range strings.Split(string(f.source), "\n") {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if fenced {
				continue
			}
			for _, m := range relativeLink.FindAllStringSubmatch(line, -1) {
				target := path.Join(f.dir(), m[1])
				if !slices.ContainsFunc(t.files, func(f *file) bool { return within(f.path, target) }) {
					found = append(found, problem{f.path, i + 1, "links to " + target + ", which is not there"})
				}
			}
		}
		for _, b := range goBlocks(string(f.source)) {
			// Blank lines give the program the line numbers that it has in the page.
			source := strings.Repeat("\n", b.line-1) + b.text
			syntax, err := parser.ParseFile(t.fset, f.path, source, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				found = append(found, problem{f.path, 0, err.Error()})
				continue
			}
			program := &file{path: f.path, source: []byte(source), syntax: syntax}
			c.check("program", []*file{program}, func(err error) {
				var e types.Error
				if errors.As(err, &e) {
					found = append(found, t.at(program, e.Pos, "%s", e.Msg))
				}
			})
		}
	}
	return found
}

// A block is the text between two fences, from a line on.
type block struct {
	line int
	text string
}

// goBlocks returns the Go programs of a Markdown text.
func goBlocks(markdown string) []block {
	var blocks []block
	var b *block
	for i, line := range strings.Split(markdown, "\n") {
		switch {
		case b == nil && line == "```go":
			b = &block{line: i + 2}
		case b != nil && line == "```":
			if strings.Contains("\n"+b.text, "\npackage ") {
				blocks = append(blocks, *b)
			}
			b = nil
		case b != nil:
			b.text += line + "\n"
		}
	}
	return blocks
}

func docsFixtures() []fixture {
	const fence = "```"
	page := "# Title\n\n" + fence + "go\npackage main\n\nimport \"" + module + "/fabric\"\n\nfunc main() {\n\tfabric.Do(1)\n}\n" + fence + "\n" +
		"\nA part of a program:\n\n" + fence + "go\nfabric.Undo()\n" + fence + "\n"
	return []fixture{
		{
			name:  "programs in documents that compile",
			files: map[string]string{"README.md": page, "fabric/x.go": "func Do(n int) {}\n", "docs/a.md": "[up](../README.md#a-program), [in](../fabric), [out](https://example.org/x)\n"},
		},
		{
			name:  "a link to what is not there",
			files: map[string]string{"docs/a.md": "\nsee [b](b.md) and [a](a.md)\n"},
			want:  []string{"docs/a.md:2: links to docs/b.md, which is not there"},
		},
		{
			name:  "a program in a document that calls what is not there",
			files: map[string]string{"README.md": page, "fabric/x.go": "func Do() {}\n", "docs/a.md": "\n" + fence + "go\npackage main\nfunc main( {}\n" + fence + "\n"},
			want: []string{
				"README.md:9: too many arguments in call to fabric.Do\n\thave (number)\n\twant ()",
				"docs/a.md: docs/a.md:4:12: expected ')', found '{'",
			},
		},
	}
}
