// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/launcher"
)

func TestJob_PEsFindEachOther(t *testing.T) {
	t.Parallel()
	for _, np := range []int{1, 2, 7} {
		r := run(t, pe(np, "hello")...)
		require.Zero(t, r.status, r.stderr)
		require.Empty(t, r.stderr)
		var want []string
		for i := range np {
			want = append(want, fmt.Sprintf("PE %d of %d, sum %d, by gorun", i, np, np*(np-1)/2))
		}
		require.ElementsMatch(t, want, linesOf(r.stdout))
	}
}

func TestJob_TwoAtOnce(t *testing.T) {
	t.Parallel()
	a, b := newJob(t, pe(4, "hello")...).start(t), newJob(t, pe(3, "hello")...).start(t)
	ra, rb := a.end(t), b.end(t)
	require.Zero(t, ra.status, ra.stderr)
	require.Zero(t, rb.status, rb.stderr)
	require.Equal(t, 4, strings.Count(ra.stdout, "of 4, sum 6"))
	require.Equal(t, 3, strings.Count(rb.stdout, "of 3, sum 3"))
}

func TestJob_APEIsOneProcessAndOnce(t *testing.T) {
	t.Parallel()
	r := run(t, pe(1, "again")...)
	require.Zero(t, r.status, r.stderr)
	require.Regexp(t, "self: .*file descriptor 3 is not the launcher's pipe", r.stdout)
	require.Regexp(t, "child: exit status 90 .*file descriptor 3 is not the launcher's pipe", r.stdout)
}

func TestJob_GorunInGorun(t *testing.T) {
	t.Parallel()
	r := run(t, append([]string{"-np", "2", os.Args[0], gorunArg}, pe(3, "hello")...)...)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, 6, strings.Count(r.stdout, "of 3, sum 3"))
}

func TestJob_ForeignProgramsEndAsTheyLike(t *testing.T) {
	t.Parallel()
	r := run(t, "-np", "3", "sh", "-c", "echo $PMI_RANK of $PMI_SIZE")
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.stderr)
	require.ElementsMatch(t, []string{"0 of 3", "1 of 3", "2 of 3"}, linesOf(r.stdout))
}

func TestJob_SharedFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		flags []string
		env   []string
		heap  uintptr
	}{
		{nil, nil, 256 << 20},
		{nil, []string{"SMA_SYMMETRIC_SIZE=2M"}, 2 << 20},
		{nil, []string{"SMA_SYMMETRIC_SIZE=2M", "SHMEM_SYMMETRIC_SIZE=3M"}, 3 << 20},
		{nil, []string{"SHMEM_SYMMETRIC_SIZE=3M", "GORUN_HEAP=4M"}, 4 << 20},
		{[]string{"--heap", "1.5m"}, []string{"SHMEM_SYMMETRIC_SIZE=bad", "GORUN_HEAP=4M"}, 3 << 19},
		{[]string{"-x", "SHMEM_SYMMETRIC_SIZE=5M"}, []string{"SHMEM_SYMMETRIC_SIZE=bad"}, 5 << 20},
	}
	for _, test := range tests {
		j := newJob(t, append(test.flags, pe(2, "segment")...)...)
		j.Env = append(j.Env, test.env...)
		r := j.start(t).end(t)
		require.Zero(t, r.status, r.stderr)
		size := segment.SizeForHeap(test.heap)
		require.ElementsMatch(t, []string{
			fmt.Sprintf("PE 0: 2 PEs of %d bytes, got 11", size),
			fmt.Sprintf("PE 1: 2 PEs of %d bytes, got 10", size),
		}, linesOf(r.stdout))
	}
}

func TestJob_StandardInputIsOfPE0(t *testing.T) {
	t.Parallel()
	j := newJob(t, pe(3, "read")...).start(t)
	_, err := j.stdin.WriteString("a line\n")
	require.NoError(t, err)
	r := j.end(t)
	require.Zero(t, r.status, r.stderr)
	require.ElementsMatch(t, []string{`PE 0: "a line\n" <nil>`, `PE 1: "" EOF`, `PE 2: "" EOF`}, linesOf(r.stdout))
}

func TestJob_EnvironmentAndFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	raw := "a b\n\xff\"'" // no UTF-8, and nothing that a shell would pass on
	j := newJob(t, "-x", "A=1", "--export", "B=x=y", "-x", "C", "--wdir", dir,
		os.Args[0], peArg, "env", "A", "B", "C", "D", "GORUN_JOB_OLD", "PMI_PORT")
	j.Env = append(j.Env, "A=0", "C="+raw, "GORUN_JOB_OLD=1", "PMI_PORT=x:1")
	r := j.start(t).end(t)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, "A 1 true\nB x=y true\nC "+raw+" true\nD  false\nGORUN_JOB_OLD  false\nPMI_PORT  false\n"+dir+"\n", r.stdout)
}

func TestJob_RelativeProgramIsFoundFromHere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/script", []byte("#!/bin/sh\npwd\n"), 0o755))
	elsewhere := t.TempDir()
	j := newJob(t, "--wdir", elsewhere, "./script")
	j.Dir = dir
	r := j.start(t).end(t)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, elsewhere+"\n", r.stdout)
}

func TestJob_FlagsFromTheEnvironment(t *testing.T) {
	t.Parallel()
	j := newJob(t, "echo", "hi")
	j.Env = append(j.Env, "GORUN_NP=2", "GORUN_LABEL=1")
	r := j.start(t).end(t)
	require.Zero(t, r.status, r.stderr)
	require.ElementsMatch(t, []string{"[0] hi", "[1] hi"}, linesOf(r.stdout))
}

func TestJob_LabelsWholeLines(t *testing.T) {
	t.Parallel()
	r := run(t, append([]string{"-l"}, pe(2, "print", `one\ntw`, `o\n`, `thr`, `ee`)...)...)
	require.Zero(t, r.status, r.stderr)
	want := []string{"[0] one", "[0] two", "[0] three", "[1] one", "[1] two", "[1] three"}
	require.ElementsMatch(t, want, linesOf(r.stdout))
	require.ElementsMatch(t, want, linesOf(r.stderr))

	r = run(t, append([]string{"-l"}, pe(3, "flood")...)...)
	require.Zero(t, r.status, r.stderr)
	count := map[string]int{}
	for _, line := range linesOf(r.stdout) {
		count[line]++
	}
	x := strings.Repeat("x", 99)
	require.Equal(t, map[string]int{"[0] " + x: floodLines, "[1] " + x: floodLines, "[2] " + x: floodLines}, count)
}

func TestJob_EndsWhenItsReaderHasGone(t *testing.T) {
	t.Parallel()
	j := newJob(t, append([]string{"-l"}, pe(2, "flood")...)...).start(t)
	j.line(t)
	j.unread.Close()
	j.Wait()
	require.Equal(t, launcher.StatusSignal+int(unix.SIGPIPE), j.ProcessState.ExitCode(), &j.stderr)
	require.Empty(t, j.processes(t))
}

func TestJob_CoresAreShared(t *testing.T) {
	t.Parallel()
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	all := set.Count()
	cores := func(bound, procs int) string {
		return fmt.Sprintf("%d cores, GOMAXPROCS=%d, %[2]d", bound, procs)
	}
	tests := []struct {
		flags []string
		np    int
		want  string
	}{
		{nil, 1, cores(all, all)},
		{nil, all, cores(1, 1)},
		{nil, all + 1, cores(all, 1)},
		{[]string{"--bind-to", "none"}, all, cores(all, 1)},
		{[]string{"--bind-to=core"}, all + 1, cores(1, 1)},
		{[]string{"-x", "GOMAXPROCS=3", "--bind-to", "none"}, 1, cores(all, 3)},
	}
	for _, test := range tests {
		j := newJob(t, append(test.flags, pe(test.np, "cores")...)...)
		j.Env = append(withoutEnv(j.Env, "GOMAXPROCS"), "GORUN_IGNORED=1")
		r := j.start(t).end(t)
		require.Zero(t, r.status, r.stderr)
		for _, line := range linesOf(r.stdout) {
			require.Equal(t, test.want, line, "%v, %d PEs", test.flags, test.np)
		}
	}
}

func withoutEnv(env []string, name string) []string {
	var rest []string
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			rest = append(rest, e)
		}
	}
	return rest
}

func TestJob_PEsInheritNoMoreThanTheyNeed(t *testing.T) {
	t.Parallel()
	alone := newJob(t)
	alone.Args = append(alone.Args[:1], peArg, "fds")
	inherited := strings.Fields(alone.start(t).end(t).stdout)
	want := []string{"3", "4", "5"} // and what the test itself was given
	for _, fd := range inherited {
		if !slices.Contains(want, fd) {
			want = append(want, fd)
		}
	}
	for _, flags := range [][]string{nil, {"-l"}} {
		r := run(t, append(flags, pe(2, "fds")...)...)
		require.Zero(t, r.status, r.stderr)
		for _, line := range linesOf(r.stdout) {
			if flags != nil {
				line = line[len("[0] "):]
			}
			require.ElementsMatch(t, want, strings.Fields(line), "%v", flags)
		}
	}
}

func TestJob_TooManyPEs(t *testing.T) {
	t.Parallel()
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	np := int(limit.Max)
	if np > segment.MaxPEs || np < 1 {
		np = segment.MaxPEs + 1
	}
	r := run(t, pe(np, "hello")...)
	require.Equal(t, launcher.StatusUsage, r.status)
	require.Contains(t, r.stderr, fmt.Sprintf("%d PEs", np))
	if np == int(limit.Max) {
		require.Contains(t, r.stderr, fmt.Sprintf("the limit is %d", limit.Max))
	}
}

func TestJob_ManyPEs(t *testing.T) {
	t.Parallel()
	np := 32 * runtime.NumCPU()
	r := run(t, pe(np, "hello")...)
	require.Zero(t, r.status, r.stderr)
	require.Len(t, linesOf(r.stdout), np)
}

func TestGorun_HelpAndVersion(t *testing.T) {
	t.Parallel()
	r := run(t, "-h")
	require.Zero(t, r.status)
	require.Contains(t, r.stdout, "Usage: gorun [flags] program")
	require.Empty(t, r.stderr)
	r = run(t, "--version")
	require.Zero(t, r.status)
	require.Regexp(t, `^gorun .*go1\.`, r.stdout)
	r = run(t, "--nonsense")
	require.Equal(t, launcher.StatusUsage, r.status)
	require.Regexp(t, `^gorun: .*--nonsense.*gorun -h`, r.stderr)
	require.Empty(t, r.stdout)
}
