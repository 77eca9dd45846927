// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUserTags(t *testing.T) {
	tests := map[string][]string{
		"":                          nil,
		"-mod=mod -v":               nil,
		"-tags=a,b":                 {"a", "b"},
		"--tags=a -v":               {"a"},
		"-tags=a -mod=mod -tags=b,": {"b"},
	}
	for goflags, want := range tests {
		got := userTags(goflags)
		if len(want) == 0 {
			require.Empty(t, got, goflags)
		} else {
			require.Equal(t, want, got, goflags)
		}
	}
}

func TestMissingForOFI_SaysWhatToInstall(t *testing.T) {
	dir := t.TempDir()
	command := func(name, script string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	t.Setenv("PATH", dir)
	t.Setenv("CC", "")
	t.Setenv("PKG_CONFIG", "")
	t.Setenv("CGO_ENABLED", "0")
	require.Equal(t, "there is no C compiler (gcc): apt-get install -y libfabric-dev gcc", missingForOFI())
	command("mycc", "")
	t.Setenv("CC", "mycc -O2")
	require.Equal(t, "unset CGO_ENABLED, which is 0", missingForOFI())
	t.Setenv("CGO_ENABLED", "1")
	require.Equal(t, "there is no pkg-config: apt-get install -y libfabric-dev gcc pkgconf", missingForOFI())
	command("pkg-config", "exit 1")
	require.Equal(t, "libfabric's header files are not installed: apt-get install -y libfabric-dev gcc", missingForOFI())
	command("pkg-config", `[ "$*" = "--exists libfabric" ]`)
	require.Empty(t, missingForOFI())
}
