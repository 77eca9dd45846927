// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/shmem"
)

// programEnv makes the test binary one PE of a program, by its name.
const programEnv = "GOSHMEM_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if name := os.Getenv(programEnv); name != "" {
		run, ok := programs()[name]
		if !ok {
			fmt.Fprintf(os.Stderr, "no program %q\n", name)
			os.Exit(3)
		}
		shmem.Main(run)
	}
	os.Exit(m.Run())
}

// programs returns what tests run as processes.
func programs() map[string]func(*shmem.PE) error {
	all := map[string]func(*shmem.PE) error{}
	for _, m := range mismatches() {
		all["mismatch: "+m.name] = m.run
	}
	return all
}

// runProgram runs a program as np processes and returns the job's output and
// exit status.
func runProgram(t *testing.T, gorun, name string, np int) (out string, status int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), gorun, "-n", strconv.Itoa(np), "--heap", "1M", "--timeout", "60", self)
	cmd.Env = append(os.Environ(), programEnv+"="+name)
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(b), cmd.ProcessState.ExitCode()
}

// buildGorun builds the command into a folder of the test's.
func buildGorun(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("gorun starts processes on Linux only")
	}
	gorun := filepath.Join(t.TempDir(), "gorun")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", gorun, "../launcher/gorun").CombinedOutput(); err != nil {
		t.Fatalf("build gorun: %v\n%s", err, out)
	}
	return gorun
}

// alloc allocates, or panics.
func alloc[T any](pe *shmem.PE, n int) shmem.Sym[T] {
	x, err := shmem.Alloc[T](pe, n)
	if err != nil {
		panic(err)
	}
	return x
}

// missing returns those of want that text does not contain.
func missing(text string, want ...string) []string {
	var not []string
	for _, w := range want {
		if !strings.Contains(text, w) {
			not = append(not, w)
		}
	}
	return not
}
