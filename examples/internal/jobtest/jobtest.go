// SPDX-License-Identifier: BSD-3-Clause

// Package jobtest runs the example in whose folder a test stands as users do,
// as processes under gorun, and in the test's own process.
package jobtest

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

func init() {
	flag.String("class", "S", "`class` of the problems that the kernels' tests solve")
}

// Class returns the class of the problems that the tests of the NAS-style kernels
// solve: S, the smallest, unless "go test … -args -class W" asks for another.
func Class() string { return flag.Lookup("class").Value.String() }

// An Example is what command.Main runs.
type Example func(pe *shmem.PE, args []string, out io.Writer) error

// InProcess runs an example on np PEs that are goroutines of the test. It returns
// what PE 0 wrote, and the error of each PE.
func InProcess(t testing.TB, np int, run Example, args []string, opts ...shmemtest.Option) (string, []error) {
	t.Helper()
	var out bytes.Buffer
	errs := shmemtest.Try(t, np, func(pe *shmem.PE) error {
		if pe.MyPE() == 0 {
			return run(pe, args, &out)
		}
		return run(pe, args, io.Discard)
	}, opts...)
	return out.String(), errs
}

// Verify is InProcess for jobs that must end well and write want. It runs each
// number of PEs twice: with PEs that are far from each other, and with near ones.
func Verify(t testing.TB, run Example, args, want string, nps ...int) {
	t.Helper()
	for _, np := range nps {
		for _, node := range []int{1, np} {
			out, errs := InProcess(t, np, run, strings.Fields(args), shmemtest.Nodes(node))
			for pe, err := range errs {
				if err != nil {
					t.Errorf("np=%d on nodes of %d, %s: PE %d: %v", np, node, args, pe, err)
				}
			}
			if !strings.Contains(out, want) {
				t.Errorf("np=%d on nodes of %d, %s: no %q in:\n%s", np, node, args, want, out)
			}
		}
	}
}

// DropOne loses the first operation for which match returns true, for tests that
// prove that an example notices.
func DropOne(match func(loop.Event) bool) shmemtest.Option {
	var dropped atomic.Bool
	return shmemtest.Faults(loop.Faults{Drop: func(e loop.Event) bool {
		return match(e) && dropped.CompareAndSwap(false, true)
	}})
}

// Far says that the PEs of a Program reach each other through libfabric only.
const Far = fabric != ""

const module = "github.com/goshmem/goshmem"

// A Program is an example, and gorun, built for one test.
type Program struct {
	t              testing.TB
	example, gorun string // paths
}

// Build builds the example in the working directory, and gorun. A test under
// the race detector gets an example under it, and one with the build tag ofi an example
// with that, which does everything through libfabric.
func Build(t testing.TB) *Program {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("gorun starts PEs on Linux only")
	}
	visitSources(t)
	dir := t.TempDir()
	p := &Program{t, filepath.Join(dir, "example"), filepath.Join(dir, "gorun")}
	var flags []string
	if fabric != "" {
		flags = append(flags, "-tags", fabric)
	}
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
	flags := []string{"-np", strconv.Itoa(np), "--timeout", "60"}
	if fabric != "" {
		flags = append(flags, "--fabric", fabric)
	}
	cmd := exec.CommandContext(p.t.Context(), p.gorun, slices.Concat(flags, []string{p.example}, args)...)
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

// Fail is Run for jobs that must end with status 1 and give this reason.
func (p *Program) Fail(reason string, np int, args ...string) {
	p.t.Helper()
	stdout, stderr, status := p.Run(np, args...)
	if status != 1 || !strings.Contains(stderr, reason) {
		p.t.Errorf("np=%d %s: status %d, want 1 and the reason %q; it wrote:\n%s%s",
			np, strings.Join(args, " "), status, reason, stdout, stderr)
	}
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
