// SPDX-License-Identifier: BSD-3-Clause

package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A recorder notes how a test would have ended.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) {
	r.ended = "skip: " + fmt.Sprintf(format, args...)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.ended = "fail: " + fmt.Sprintf(format, args...)
	panic(r) // like runtime.Goexit, it does not return
}

func need(t *testing.T, tool string) (path, ended string) {
	t.Helper()
	r := &recorder{TB: t}
	defer func() {
		if recover() != nil {
			ended = r.ended
		}
	}()
	return NeedTool(r, tool, "the-package"), r.ended
}

func TestNeedTool(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "a-tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	tests := []struct {
		tool, ci  string
		path, end string
	}{
		{tool: "a-tool", path: tool},
		{tool: "a-tool", ci: "1", path: tool},
		{tool: "no-tool", end: "skip: "},
		{tool: "no-tool", ci: "0", end: "skip: "},
		{tool: "no-tool", ci: "1", end: "fail: "},
	}
	for _, test := range tests {
		t.Setenv("GOSHMEM_CI", test.ci)
		path, end := need(t, test.tool)
		if path != test.path || !strings.HasPrefix(end, test.end) || test.end == "" && end != "" {
			t.Errorf("NeedTool(%s) with GOSHMEM_CI=%q: path %q, ended %q; want %q, %q…", test.tool, test.ci, path, end, test.path, test.end)
		}
		if test.end != "" && !strings.Contains(end, "the-package") {
			t.Errorf("NeedTool(%s): %q does not name the package", test.tool, end)
		}
	}
}
