// SPDX-License-Identifier: BSD-3-Clause

// Package jobtest runs the example in whose folder a test stands as users do:
// as processes under gorun.
package jobtest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/internal/race"
)

const module = "github.com/goshmem/goshmem"

// A Program is an example, and gorun, built for one test.
type Program struct {
	t              testing.TB
	example, gorun string // paths
}

// Build builds the example in the working directory, and gorun. A test under
// the race detector gets an example under it.
func Build(t testing.TB) *Program {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("gorun starts PEs on Linux only")
	}
	visitSources(t)
	dir := t.TempDir()
	p := &Program{t, filepath.Join(dir, "example"), filepath.Join(dir, "gorun")}
	flags := []string{}
	if race.Enabled {
		flags = append(flags, "-race")
	}
	build(t, p.example, ".", flags...)
	build(t, p.gorun, module+"/launcher/gorun")
	return p
}

// Run runs the example on np PEs and returns what the job wrote and its status.
func (p *Program) Run(np int, args ...string) (stdout, stderr string, status int) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.gorun,
		append([]string{"-np", strconv.Itoa(np), "--timeout", "60", p.example}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Succeed is Run for jobs that must end with status 0. It returns what they
// wrote to standard output.
func (p *Program) Succeed(np int, args ...string) string {
	p.t.Helper()
	stdout, stderr, status := p.Run(np, args...)
	if status != 0 {
		p.t.Fatalf("np=%d %s: status %d, want 0; it wrote:\n%s%s", np, strings.Join(args, " "), status, stdout, stderr)
	}
	return stdout
}

// Refuse is Run for jobs that must end with status 2 and give this reason, once.
func (p *Program) Refuse(reason string, np int, args ...string) {
	p.t.Helper()
	stdout, stderr, status := p.Run(np, args...)
	if status != 2 || strings.Count(stderr, reason) != 1 || stdout != "" {
		p.t.Errorf("np=%d %s: status %d, want 2 and the reason %q once; it wrote:\n%s%s",
			np, strings.Join(args, " "), status, reason, stdout, stderr)
	}
}

func build(t testing.TB, path, pkg string, flags ...string) {
	t.Helper()
	args := append([]string{"build", "-o", path}, flags...)
	if out, err := exec.CommandContext(t.Context(), "go", append(args, pkg)...).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
}

// visitSources looks at the files that gorun and a process's runtime are built
// of. The go command keeps a test's result only as long as the files that the
// test looked at stay as they were, and what a command that it runs looks at
// does not count.
func visitSources(t testing.TB) {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, folder := range []string{"launcher", "fabric", "internal"} {
		top := filepath.Join(strings.TrimSpace(string(root)), folder)
		err := filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
