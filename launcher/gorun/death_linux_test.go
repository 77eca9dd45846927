// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/launcher"
)

func TestDeath_FirstFailureDecides(t *testing.T) {
	t.Parallel()
	tests := []struct {
		role   []string
		status int
		last   string // line of standard error
	}{
		{[]string{"exit=3", "1"}, 3, `gorun: PE 1 exited with status 3; its last words: "that was it"`},
		{[]string{"exit=3", "0"}, 3, `gorun: PE 0 exited with status 3; its last words: "that was it"`},
		{[]string{"panic", "2"}, 2, `gorun: PE 2 exited with status 2 (Go panic or fatal error); its last words: "panic: oh no"`},
		{[]string{"kill", "1"}, 137, `gorun: PE 1 was killed by signal 9 (killed)`},
		{[]string{"leave", "1"}, 1, `gorun: PE 1 ended with status 0 without Finalize after Init`},
		{[]string{"finalize=5", "1"}, 5, `gorun: PE 1 exited with status 5`},
		{[]string{"exit=3", "1", "stubborn"}, 3, `gorun: PE 1 exited with status 3; its last words: "that was it"`},
		{[]string{"abort=7", "1", "no more"}, 7, `gorun: PE 1 ended the job with status 7: no more`},
		{[]string{"abort=0", "1", "stubborn", ""}, 0, ``},
		{[]string{"abort=9", "0", ""}, 9, `gorun: PE 0 ended the job with status 9`},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.role, " "), func(t *testing.T) {
			t.Parallel()
			j := newJob(t, pe(4, append([]string{"die"}, test.role...)...)...).start(t)
			require.Equal(t, "dying", j.line(t))
			r := j.endsSoon(t)
			require.Equal(t, test.status, r.status, r.stderr)
			require.Equal(t, test.last, lastLine(r.stderr))
		})
	}
}

func TestDeath_InitIsForAllOrNone(t *testing.T) {
	t.Parallel()
	r := run(t, pe(3, "mixed")...)
	require.Equal(t, 1, r.status)
	require.Regexp(t, `gorun: PE 1 ended with status 0 without Init, which PE [02] has called`, lastLine(r.stderr))
}

func TestDeath_WithALabelTheLastLineIsStillGoruns(t *testing.T) {
	t.Parallel()
	r := run(t, append([]string{"-l"}, pe(2, "die", "exit=4", "1")...)...)
	require.Equal(t, 4, r.status)
	require.Contains(t, r.stderr, "[1] that was it\n")
	require.Equal(t, `gorun: PE 1 exited with status 4; its last words: "that was it"`, lastLine(r.stderr))
}

func TestDeath_Timeout(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"0.3", "300ms"} {
		r := run(t, append([]string{"--timeout", limit}, pe(2, "forever")...)...)
		require.Equal(t, launcher.StatusTimeout, r.status)
		require.Equal(t, "gorun: the job has taken longer than 300ms (--timeout)", lastLine(r.stderr))
	}
	r := run(t, append([]string{"--timeout", "1m"}, pe(2, "hello")...)...)
	require.Zero(t, r.status, r.stderr)
}

func TestDeath_DaemonsEndWithTheJob(t *testing.T) {
	t.Parallel()
	daemons := []string{"daemon 2", "daemon 1", "daemon 0"}
	t.Run("a PE fails", func(t *testing.T) {
		t.Parallel()
		j := newJob(t, pe(2, "daemon")...).start(t)
		j.expect(t, append(daemons, daemons...)...)
		r := j.endsSoon(t) // of the input, too
		require.Equal(t, 6, r.status)
	})
	t.Run("all PEs end well", func(t *testing.T) {
		t.Parallel()
		r := run(t, "-np", "2", "sh", "-c", "setsid sleep 1000 & (sleep 1000 &)")
		require.Zero(t, r.status, r.stderr)
		require.Empty(t, r.stderr)
	})
	t.Run("gorun is killed", func(t *testing.T) {
		t.Parallel()
		j := newJob(t, pe(2, "daemon")...).start(t)
		j.expect(t, append(daemons, daemons...)...)
		require.NoError(t, j.Process.Kill())
		r := j.endsSoon(t)
		require.Equal(t, -int(syscall.SIGKILL), r.status)
	})
	t.Run("the proxy is killed", func(t *testing.T) {
		t.Parallel()
		j := newJob(t, pe(2, "daemon")...).start(t)
		j.expect(t, append(daemons, daemons...)...)
		proxy := j.child(t, j.Process.Pid)
		require.NoError(t, syscall.Kill(proxy, syscall.SIGKILL))
		r := j.endsSoon(t)
		require.Equal(t, launcher.StatusLostNode, r.status)
		require.Equal(t, fmt.Sprintf("gorun: the proxy (process %d) was killed by signal 9 (killed): its PEs are lost", proxy), lastLine(r.stderr))
	})
}

// A proxy that is killed while it talks does not talk nonsense.
func TestDeath_AProxyIsKilledUnderFlood(t *testing.T) {
	t.Parallel()
	for range 5 {
		j := newJob(t, append([]string{"-l"}, pe(2, "flood")...)...).start(t)
		j.line(t)
		require.NoError(t, syscall.Kill(j.child(t, j.Process.Pid), syscall.SIGKILL))
		r := j.end(t)
		require.Equal(t, launcher.StatusLostNode, r.status)
		require.Regexp(t, `^gorun: the proxy \(process \d+\) was killed by signal 9 \(killed\): its PEs are lost$`, lastLine(r.stderr))
	}
}

// child returns the only child of a process.
func (j *job) child(t *testing.T, pid int) int {
	t.Helper()
	all := j.children(t, pid)
	require.Len(t, all, 1, "children of process %d", pid)
	return all[0]
}

// children returns the children of a process.
func (j *job) children(t *testing.T, pid int) (children []int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(t, err)
	for _, path := range lists {
		list, err := os.ReadFile(path)
		require.NoError(t, err)
		for text := range strings.FieldsSeq(string(list)) {
			child, err := strconv.Atoi(text)
			require.NoError(t, err)
			children = append(children, child)
		}
	}
	return children
}

// TestDeath_DaemonsHoldNoEnd has a PE leave a process that holds its standard
// error, while others go on: the PE's end is known all the same.
func TestDeath_DaemonsHoldNoEnd(t *testing.T) {
	t.Parallel()
	r := run(t, "-l", "-np", "2", "sh", "-c", `if [ $PMI_RANK = 1 ]; then sleep 1000 & echo gone >&2; exit 6; fi; sleep 1000`)
	require.Equal(t, 6, r.status)
	require.Equal(t, `gorun: PE 1 exited with status 6; its last words: "gone"`, lastLine(r.stderr))
}

func TestStrangers_DoNotHarmAJob(t *testing.T) {
	t.Parallel()
	j := newJob(t, append([]string{"-v"}, pe(2, "port")...)...).start(t)
	addr := j.line(t)
	require.True(t, strings.HasPrefix(addr, "127.0.0.1:"), "the bootstrap server listens on %s", addr)
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: scanner\r\nAccept: */*\r\n\r\n",
		"goshmem1\x00\x00\x00\x01" + strings.Repeat("n", 64),
		"\x00",
	} {
		conn, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		fmt.Fprint(conn, text)
		_ = conn.(*net.TCPConn).CloseWrite() // fails if the server has hung up already, which is right too
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		_, err = conn.Read(make([]byte, 1000)) // its challenge, or that it hangs up
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
		}
		require.Error(t, err)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		conn.Close()
	}
	r := j.end(t)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, 3, strings.Count(r.stderr, "dropped a connection"), r.stderr)
}
