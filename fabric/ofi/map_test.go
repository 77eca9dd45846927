// SPDX-License-Identifier: BSD-3-Clause

package ofi_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	comments = regexp.MustCompile(`(?m)//.*$|^#include.*$`)

	// libfabricNames finds calls, structures, flags and environment variables,
	// attributes below an info's parts, and those of the info itself.
	libfabricNames = regexp.MustCompile(`\b(?:fi_[a-z0-9_]+|FI_[A-Z0-9_]+|(?:ep|tx|rx|domain|fabric)_attr(?:->|\.)\w+|(?:info|hints|o\.c)(?:->|\.)(?:caps|mode|addr_format|src_addr|src_addrlen)\b)`)

	ofInfo = regexp.MustCompile(`^(?:info|hints|o\.c)(?:->|\.)`)
)

// ours is the name of a parameter.
const ours = "fi_op"

// usedNames returns what the sources name of libfabric, and where.
func usedNames(t *testing.T) map[string][]string {
	t.Helper()
	used := map[string][]string{}
	for _, pattern := range []string{"*.go", "*.c", "*.h"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range libfabricNames.FindAllString(comments.ReplaceAllString(string(source), ""), -1) {
				name = ofInfo.ReplaceAllString(strings.ReplaceAll(name, "->", "."), "info.")
				if name != ours && !slices.Contains(used[name], file) {
					used[name] = append(used[name], file)
				}
			}
		}
	}
	return used
}

// mappedNames returns what the document says.
func mappedNames(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/libfabric-map.md")
	if err != nil {
		t.Fatal(err)
	}
	mapped := map[string][]string{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		if strings.Trim(cells[2], " |\n") == "" {
			t.Errorf("%s: no reason", cells[0])
		}
		for name := range strings.SplitSeq(strings.TrimPrefix(cells[0], "| "), ", ") {
			name = strings.Trim(name, "`")
			if mapped[name] != nil {
				t.Errorf("%s is there twice", name)
			}
			mapped[name] = strings.Split(cells[1], ", ")
		}
	}
	return mapped
}

// TestMap: docs/libfabric-map.md has every name that the sources have, with its files,
// and no other.
func TestMap(t *testing.T) {
	used, mapped := usedNames(t), mappedNames(t)
	if len(used) < 100 {
		t.Errorf("found %d names in the sources only", len(used))
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		files := slices.Sorted(slices.Values(used[name]))
		switch got := mapped[name]; {
		case got == nil:
			t.Errorf("docs/libfabric-map.md lacks %s, which is in %s", name, strings.Join(files, ", "))
		case !slices.Equal(files, slices.Sorted(slices.Values(got))):
			t.Errorf("docs/libfabric-map.md has %s in %s; it is in %s", name, strings.Join(got, ", "), strings.Join(files, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mapped)) {
		if used[name] == nil {
			t.Errorf("docs/libfabric-map.md has %s, which the sources do not name", name)
		}
	}
}
