// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/internal/testenv"
)

const (
	goodMain = "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(os.Args[0] + \" \" + os.Args[1] + \"\\n\") }\n"
	badMain  = "package main\n\nfunc main() { undefinedName() }\n"
	library  = "package library\n"
)

// module makes a Go module with one file.
func module(t *testing.T, source string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "prog")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.test/prog\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644))
	return dir
}

func TestProgram_PackagesAreBuilt(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "go", "golang-go")
	dir := module(t, goodMain)
	for arg, name := range map[string]string{dir: "prog", filepath.Join(dir, "main.go"): "main"} {
		r := run(t, "-np", "2", arg, "x")
		require.Zero(t, r.status, r.stderr)
		require.Equal(t, strings.Repeat(name+" x\n", 2), r.stdout)
	}
}

func TestProgram_CompilerSpeaks(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "go", "golang-go")
	r := run(t, module(t, badMain))
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "undefined: undefinedName")
	require.Contains(t, lastLine(r.stderr), "could not be built")

	r = run(t, module(t, library))
	require.Equal(t, 1, r.status)
	require.Contains(t, lastLine(r.stderr), "could not be built")
}

func TestProgram_NothingIsLeftOfABuiltOne(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "go", "golang-go")
	j := newJob(t, "-np", "2", module(t, "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"ready\\n\"); os.Pipe(); select {} }\n"))
	j.start(t)
	j.expect(t, "ready")
	require.NoError(t, j.Process.Kill())
	j.end(t)
}

func TestProgram_BuildingCanBeInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	slowGo := "#!/bin/sh\ntrap 'exit 1' TERM\necho building >" + fifo + "\nread line <" + fifo + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(slowGo), 0o755))
	j := newJob(t, module(t, goodMain))
	j.Env = append(j.Env, "PATH="+dir+":"+os.Getenv("PATH"))
	j.start(t)
	text, err := os.ReadFile(fifo)
	require.NoError(t, err)
	require.Equal(t, "building\n", string(text))
	j.kill(t, unix.SIGTERM)
	r := j.end(t)
	require.Equal(t, 143, r.status)
	require.Equal(t, "gorun: stopped by signal 15 (terminated) while the program was built", lastLine(r.stderr))
}

func TestProgram_WhatCanNotBeExecuted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	write("plain", "text\n", 0o644)
	write("garbage", "text\n", 0o755)
	write("orphan", "#!/no/such/interpreter\n", 0o755)
	write("here", "#!/bin/sh\n", 0o755)
	tests := []struct {
		program string
		status  int
		want    string
	}{
		{"no-such-program", 127, "no-such-program: not found in $PATH"},
		{"here", 127, "use ./here"},
		{"./none", 127, "./none: not found"},
		{"./none.go", 127, "./none.go: not found"},
		{"./plain", 126, "./plain: not executable: chmod +x"},
		{"./garbage", 126, "neither a program for this machine nor a script"},
		{"./orphan", 127, "interpreter"},
	}
	for _, test := range tests {
		j := newJob(t, "-np", "2", test.program)
		j.Dir = dir
		r := j.start(t).end(t)
		require.Equal(t, test.status, r.status, "%s: %s", test.program, r.stderr)
		require.Contains(t, r.stderr, test.want)
		require.Len(t, linesOf(r.stderr), 1, "one line says it")
	}
}
