// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/launcher"
)

// fakeGo puts a go command before all others, for which an executable is a script
// that shows what it was made with.
func (j *job) fakeGo(t *testing.T, hasModule bool) {
	t.Helper()
	dir := t.TempDir()
	list := "exit 1"
	if hasModule {
		list = "exit 0"
	}
	script := `#!/bin/sh
[ "$1" = list ] && ` + list + `
out=$GOBIN/info
printf '#!/bin/sh\necho "%s, CGO_ENABLED=%s"\nexit 5\n' "$(echo $* | sed "s,$GOBIN,TEMP,")" "$CGO_ENABLED" >$out
chmod +x $out
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755))
	j.Env = append(withoutEnv(j.Env, "CGO_ENABLED"), "PATH="+dir+":"+os.Getenv("PATH"), "GOFLAGS=-tags=mine")
}

func TestFabricInfo_IsBuiltInTheModuleThatIsHere(t *testing.T) {
	t.Parallel()
	j := newJob(t, "--fabric-info")
	j.fakeGo(t, true)
	r := j.start(t).end(t)
	require.Equal(t, 5, r.status, r.stderr)
	require.Equal(t, "build -tags=mine,ofi -o TEMP/ github.com/goshmem/goshmem/fabric/ofi/fabricinfo, CGO_ENABLED=1\n", r.stdout)
}

func TestFabricInfo_OutsideAModuleNeedsARelease(t *testing.T) {
	t.Parallel()
	j := newJob(t, "--fabric-info")
	j.fakeGo(t, false)
	r := j.start(t).end(t)
	require.Equal(t, launcher.StatusUsage, r.status)
	require.Contains(t, r.stderr, "this folder's module does not require github.com/goshmem/goshmem, and this gorun is of no released version")
}

func TestFabricInfo_NeedsGo(t *testing.T) {
	t.Parallel()
	j := newJob(t, "--fabric-info")
	j.Env = append(j.Env, "PATH="+t.TempDir())
	r := j.start(t).end(t)
	require.Equal(t, launcher.StatusNotFound, r.status)
	require.Contains(t, r.stderr, "there is no go command in $PATH: install Go")
}

// A program that can't be built for want of libfabric is told from one that is wrong.
func TestProgram_SaysWhatLibfabricNeeds(t *testing.T) {
	t.Parallel()
	j := newJob(t, "--fabric", "ofi", module(t, goodMain))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\necho noise >&2\nexit 1\n"), 0o755))
	j.Env = append(j.Env, "CC=no-such-cc", "PATH="+dir+":"+os.Getenv("PATH"))
	r := j.start(t).end(t)
	require.Equal(t, 1, r.status)
	require.True(t, strings.HasPrefix(r.stderr, "noise\n"), r.stderr)
	require.Contains(t, lastLine(r.stderr), "could not be built (exit status 1); it is built with -tags ofi, for libfabric: there is no C compiler (no-such-cc): apt-get install -y libfabric-dev gcc")
}
