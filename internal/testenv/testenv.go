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
	Lacks(t, "%s is not installed (Debian package %s)", tool, debianPackage)
	return ""
}

// NeedLibfabric skips a test that builds programs with libfabric where its headers
// or a C compiler are missing, or fails it if GOSHMEM_CI is 1.
func NeedLibfabric(t testing.TB) {
	t.Helper()
	NeedTool(t, "gcc", "gcc")
	tool := NeedTool(t, "pkg-config", "pkgconf")
	out, err := exec.CommandContext(t.Context(), tool, "--print-errors", "--exists", "libfabric >= 1.17").CombinedOutput()
	if err != nil {
		Lacks(t, "libfabric 1.17 or newer is not installed with its headers (Debian package libfabric-dev): %s", out)
	}
}

// NeedRoot skips a test that only root can run, or fails it if GOSHMEM_CI is 1.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Lacks(t, "root is needed; this is user %d", os.Geteuid())
	}
}

// Lacks skips a test because of something that the machine lacks, or fails it if
// GOSHMEM_CI is 1.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("GOSHMEM_CI") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
