// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/launcher"
)

// The test binary is also gorun, its proxy, and the PEs: by its first argument.
const (
	gorunArg = "__gorun"
	peArg    = "__pe"
)

func TestMain(m *testing.M) {
	switch {
	case launcher.IsProxy(os.Args):
		os.Exit(launcher.Proxy())
	case len(os.Args) > 1 && os.Args[1] == gorunArg:
		os.Exit(gorun(os.Args[2:]))
	case len(os.Args) > 2 && os.Args[1] == peArg:
		os.Exit(runPE(os.Args[2], os.Args[3:]))
	}
	// A shell's background job ignores these, but not what it starts in turn.
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	os.Exit(m.Run())
}

const (
	// patience bounds what only a defect makes long.
	patience = time.Minute

	// soon bounds the end of a job after its cause; see job.endsSoon.
	soon = 2 * time.Second

	// markVar marks all processes of a test's job in their environment.
	markVar = "GOSHMEM_TEST_MARK"
)

// A job is a gorun under test.
type job struct {
	*exec.Cmd
	mark   string
	temp   string // its TMPDIR
	begun  time.Time
	stdin  *os.File
	lines  *bufio.Reader // standard output, also of the PEs
	unread *os.File      // what lines reads from
	stderr lockedBuffer
}

// A lockedBuffer may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A result is what is left of a job.
type result struct {
	status int
	stdout string // what has not been read by line
	stderr string
}

// pe returns the arguments of gorun for a job of np PEs that play a role.
func pe(np int, role ...string) []string {
	return append([]string{"-np", fmt.Sprint(np), os.Args[0], peArg}, role...)
}

// newJob returns a gorun that has not been started.
func newJob(t *testing.T, args ...string) *job {
	t.Helper()
	j := &job{mark: rand.Text(), temp: filepath.Join(t.TempDir(), "tmp")}
	require.NoError(t, os.Mkdir(j.temp, 0o700))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	j.Cmd = exec.CommandContext(ctx, os.Args[0], append([]string{gorunArg}, args...)...)
	// The race detector would sleep for 1 s at each process's end.
	j.Env = append(os.Environ(), markVar+"="+j.mark, "TMPDIR="+j.temp, "GORACE=atexit_sleep_ms=0")
	return j
}

// start starts gorun. Standard input stays open until closeStdin.
func (j *job) start(t *testing.T) *job {
	t.Helper()
	var in, out *os.File
	var err error
	if j.Stdin == nil {
		in, j.stdin, err = os.Pipe()
		require.NoError(t, err)
		defer in.Close()
		j.Stdin = in
	}
	j.unread, out, err = os.Pipe()
	require.NoError(t, err)
	defer out.Close()
	j.Stdout, j.Stderr = out, &j.stderr
	j.lines = bufio.NewReader(j.unread)
	j.begun = time.Now()
	require.NoError(t, j.Cmd.Start())
	return j
}

func (j *job) closeStdin() {
	if j.stdin != nil {
		j.stdin.Close()
	}
}

// line returns the next line of standard output.
func (j *job) line(t *testing.T) string {
	t.Helper()
	require.NoError(t, j.unread.SetReadDeadline(time.Now().Add(patience)))
	line, err := j.lines.ReadString('\n')
	require.NoError(t, err, "after %q, standard error: %s", line, &j.stderr)
	return strings.TrimSuffix(line, "\n")
}

// expect reads n lines, which are these in any order.
func (j *job) expect(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for range want {
		got = append(got, j.line(t))
	}
	require.ElementsMatch(t, want, got)
}

// end waits for the end of the job and checks that nothing is left. Standard
// output ends when no process has it: its last reader is then the last process
// of the job.
func (j *job) end(t *testing.T) result {
	t.Helper()
	j.closeStdin()
	require.NoError(t, j.unread.SetReadDeadline(time.Now().Add(patience)))
	rest, err := io.ReadAll(j.lines)
	if err != nil {
		j.Cancel()
		t.Errorf("standard output does not end: %v", err)
	}
	j.unread.Close()
	j.Wait()
	require.Empty(t, j.processes(t), "processes are left")
	left, err := os.ReadDir(j.temp)
	require.NoError(t, err)
	require.Empty(t, left, "temporary files are left")
	status := j.ProcessState.Sys().(syscall.WaitStatus)
	r := result{status: status.ExitStatus(), stdout: string(rest), stderr: j.stderr.String()}
	if status.Signaled() {
		r.status = -int(status.Signal())
	}
	return r
}

// endsSoon waits for the end of the job, which its cause has preceded just now,
// by at most soon: more if the machine is so busy that the job has taken long to
// come to that point.
func (j *job) endsSoon(t *testing.T) result {
	t.Helper()
	cause := time.Now()
	limit := soon + cause.Sub(j.begun)
	r := j.end(t)
	require.Less(t, time.Since(cause), limit)
	return r
}

// processes returns the command lines of the job's processes, without zombies.
func (j *job) processes(t *testing.T) []string {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	var found []string
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err == nil && bytes.Contains(env, []byte(markVar+"="+j.mark)) {
			cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, strings.ReplaceAll(string(cmd), "\x00", " "))
		}
	}
	return found
}

// run runs gorun to its end, with no input.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return newJob(t, args...).start(t).end(t)
}

// lastLine returns the last line of text.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return lines[len(lines)-1]
}

// linesOf returns the lines of text, in any order.
func linesOf(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
