// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// kill sends gorun a signal.
func (j *job) kill(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, j.Process.Signal(s))
}

func TestSignals_AreForwarded(t *testing.T) {
	t.Parallel()
	j := newJob(t, pe(2, "signals", "user defined signal 1", "user defined signal 2", "hangup", "window changed", "terminated", "interrupt")...).start(t)
	j.expect(t, "ready", "ready")
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP, syscall.SIGWINCH} {
		j.kill(t, s)
		j.expect(t, fmt.Sprintf("PE 0: %v", s), fmt.Sprintf("PE 1: %v", s))
	}
	j.kill(t, syscall.SIGINT)
	j.expect(t, "PE 0: interrupt", "PE 1: interrupt")
	r := j.end(t)
	require.Equal(t, 130, r.status, "also if all PEs end well")
	require.Equal(t, "gorun: stopped by signal 2 (interrupt)", lastLine(r.stderr))
	require.Empty(t, r.stdout, "a signal came twice")
}

func TestSignals_TermEndsPEs(t *testing.T) {
	t.Parallel()
	j := newJob(t, pe(2, "daemon", "0")...).start(t)
	j.expect(t, "daemon 0", "daemon 0")
	j.kill(t, syscall.SIGTERM)
	r := j.endsSoon(t)
	require.Equal(t, 143, r.status)
	require.Equal(t, "gorun: stopped by signal 15 (terminated)", lastLine(r.stderr))
}

func TestSignals_TheSecondInterruptKills(t *testing.T) {
	t.Parallel()
	j := newJob(t, pe(2, "signals", "interrupt", "terminated", "user defined signal 1")...).start(t)
	j.expect(t, "ready", "ready")
	j.kill(t, syscall.SIGINT)
	j.expect(t, "PE 0: interrupt", "PE 1: interrupt")
	// What follows within 100 ms is taken for the same key.
	timer := time.NewTimer(150 * time.Millisecond)
	<-timer.C
	j.kill(t, syscall.SIGTERM)
	r := j.endsSoon(t)
	require.Equal(t, 130, r.status)
}

func TestSignals_InterruptedPEsAreKilledInTheEnd(t *testing.T) {
	t.Parallel()
	j := newJob(t, pe(2, "signals", "interrupt", "terminated", "user defined signal 1")...).start(t)
	j.expect(t, "ready", "ready")
	sent := time.Now()
	j.kill(t, syscall.SIGINT)
	j.expect(t, "PE 0: interrupt", "PE 1: interrupt")
	r := j.end(t)
	require.GreaterOrEqual(t, time.Since(sent), 5*time.Second, "PEs have had no time to end")
	require.Equal(t, 130, r.status)
}

func TestSignals_EndAJobWhoseOutputNobodyReads(t *testing.T) {
	t.Parallel()
	j := newJob(t, append([]string{"-l"}, pe(2, "flood")...)...).start(t)
	raw, err := j.unread.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { _, err = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 4096) }))
	require.NoError(t, err)
	j.line(t)
	sent := time.Now()
	j.kill(t, syscall.SIGINT)
	j.Wait()
	require.GreaterOrEqual(t, time.Since(sent), time.Second, "gorun has not tried to write what it has")
	require.Equal(t, 130, j.ProcessState.ExitCode(), &j.stderr)
	require.Empty(t, j.processes(t))
}

// awaitStopped waits until a process is stopped. No signal tells of it: it is
// the child of another one.
func awaitStopped(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, fields, _ := strings.Cut(string(stat), ") ")
		return err == nil && strings.HasPrefix(fields, "T ")
	}, patience, time.Millisecond, "process %d runs on", pid)
}

func TestSignals_StopAndContinue(t *testing.T) {
	t.Parallel()
	j := newJob(t, pe(2, "signals", "continued", "user defined signal 1")...)
	j.Env = append(j.Env, "GOMAXPROCS=1") // what gorun leaves to others comes late
	j.start(t)
	j.expect(t, "ready", "ready")
	j.kill(t, syscall.SIGTSTP)
	var status unix.WaitStatus
	_, err := unix.Wait4(j.Process.Pid, &status, unix.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped(), "gorun is not stopped, as a shell expects")
	for _, pid := range j.children(t, j.child(t, j.Process.Pid)) {
		awaitStopped(t, pid)
	}
	j.kill(t, syscall.SIGCONT)
	j.expect(t, "PE 0: continued", "PE 1: continued")
	j.kill(t, syscall.SIGUSR1)
	r := j.end(t)
	require.Zero(t, r.status, r.stderr)
}

func TestSignals_IgnoredOnesStayIgnored(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	j.Path = "/bin/sh"
	j.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh", os.Args[0], gorunArg}, "-np", "1", "sh", "-c", "echo ready; read line; echo $line")
	j.start(t)
	j.expect(t, "ready")
	j.kill(t, syscall.SIGHUP)
	_, err := j.stdin.WriteString("still here\n")
	require.NoError(t, err)
	r := j.end(t)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, "still here\n", r.stdout)
}

// terminal returns both ends of a terminal.
func terminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { keyboard.Close() })
	raw, err := keyboard.SyscallConn()
	require.NoError(t, err)
	var n int
	require.NoError(t, raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}))
	require.NoError(t, err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { tty.Close() })
	return keyboard, tty
}

// onTerminal starts j as a shell would: in the terminal's foreground.
func (j *job) onTerminal(t *testing.T) (keyboard *os.File) {
	t.Helper()
	keyboard, tty := terminal(t)
	j.Stdin = tty
	j.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	j.start(t)
	return keyboard
}

func TestTerminal_PE0ReadsIt(t *testing.T) {
	t.Parallel()
	j := newJob(t, pe(2, "read")...)
	keyboard := j.onTerminal(t)
	j.expect(t, `PE 1: "" EOF`)
	_, err := keyboard.WriteString("typed\n")
	require.NoError(t, err)
	j.expect(t, `PE 0: "typed\n" <nil>`)
	r := j.end(t)
	require.Zero(t, r.status, r.stderr)
}

// TestTerminal_SignalsComeOnce: the terminal sends to the whole group, and kill
// to gorun alone; each PE gets either once.
func TestTerminal_SignalsComeOnce(t *testing.T) {
	t.Parallel()
	j := newJob(t, pe(2, "signals", "interrupt", "user defined signal 1", "terminated", "user defined signal 2")...)
	keyboard := j.onTerminal(t)
	j.expect(t, "ready", "ready")
	j.kill(t, syscall.SIGUSR1)
	j.expect(t, "PE 0: user defined signal 1", "PE 1: user defined signal 1")
	_, err := keyboard.WriteString("\x03")
	require.NoError(t, err)
	j.expect(t, "PE 0: interrupt", "PE 1: interrupt")
	// It comes after whatever else the interrupt might bring.
	j.kill(t, syscall.SIGUSR2)
	j.expect(t, "PE 0: user defined signal 2", "PE 1: user defined signal 2")
	r := j.end(t)
	require.Equal(t, 130, r.status)
	require.Empty(t, r.stdout)
}

// TestTerminal_OnSeveralHosts: gorun reads the terminal for PE 0 then, and passes
// on what is typed to signal.
func TestTerminal_OnSeveralHosts(t *testing.T) {
	t.Parallel()
	hosts := []string{"--host", "localhost,127.0.0.1", os.Args[0], peArg}
	j := newJob(t, append(hosts, "read")...)
	keyboard := j.onTerminal(t)
	j.expect(t, `PE 1: "" EOF`)
	_, err := keyboard.WriteString("typed\n")
	require.NoError(t, err)
	j.expect(t, `PE 0: "typed\n" <nil>`)
	r := j.end(t)
	require.Zero(t, r.status, r.stderr)

	j = newJob(t, append(hosts, "signals", "interrupt", "user defined signal 2")...)
	keyboard = j.onTerminal(t)
	j.expect(t, "ready", "ready")
	_, err = keyboard.WriteString("\x03")
	require.NoError(t, err)
	j.expect(t, "PE 0: interrupt", "PE 1: interrupt")
	j.kill(t, syscall.SIGUSR2)
	j.expect(t, "PE 0: user defined signal 2", "PE 1: user defined signal 2")
	r = j.end(t)
	require.Equal(t, 130, r.status)
	require.Empty(t, r.stdout)
}
