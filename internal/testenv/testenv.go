// SPDX-License-Identifier: BSD-3-Clause

// Package testenv says what tests may expect of the machine that they run on.
package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// NeedTool returns the path of a command that the test needs. If the command
// is not installed, the test is skipped, naming the Debian package that has it;
// it fails instead if GOSHMEM_CI is 1, for there all tools are installed, and
// a test that is always skipped proves nothing.
func NeedTool(t testing.TB, tool, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err == nil {
		return path
	}
	if os.Getenv("GOSHMEM_CI") == "1" {
		t.Fatalf("%s: %v; install the Debian package %s", tool, err, debianPackage)
	}
	t.Skipf("%s is not installed (Debian package %s)", tool, debianPackage)
	return ""
}

// NeedRoot skips a test that only root can run, or fails it if GOSHMEM_CI is 1.
func NeedRoot(t testing.TB) {
	t.Helper()
	switch {
	case os.Geteuid() == 0:
	case os.Getenv("GOSHMEM_CI") == "1":
		t.Fatalf("root is needed; this is user %d", os.Geteuid())
	default:
		t.Skipf("root is needed; this is user %d", os.Geteuid())
	}
}
