// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/internal/netns"
	"github.com/goshmem/goshmem/launcher"
)

// lostSoon bounds the end of a job after the loss of a host.
const lostSoon = 5 * time.Second

// processOn returns the number of a process on a host, by a pattern of its command
// line, whose words end with a zero byte.
func processOn(t *testing.T, h netns.Host, pattern string) int {
	t.Helper()
	whole := regexp.MustCompile("^(?:" + pattern + ")$")
	for _, pid := range h.Processes(t) {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && whole.Match(command) {
			return pid
		}
	}
	t.Fatalf("no process %q on %s", pattern, h.Name)
	return 0
}

// proxyOn returns the number of the proxy on a host.
func proxyOn(t *testing.T, h netns.Host) int {
	t.Helper()
	return processOn(t, h, "[^\x00]*\x00__proxy\x00")
}

// requireEmpty checks that no process is left on any host.
func requireEmpty(t *testing.T, net *netns.Net) {
	t.Helper()
	for _, h := range net.Hosts {
		require.Empty(t, h.Processes(t), "processes are left on %s", h.Name)
	}
}

func TestHostsDeath_FirstFailureDecides(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	b := net.Hosts[1].Name
	tests := []struct {
		role   []string
		status int
		last   string // line of standard error, behind the host
	}{
		{[]string{"exit=3", "2"}, 3, `PE 2 exited with status 3; its last words: "that was it"`},
		{[]string{"panic", "3"}, 2, `PE 3 exited with status 2 (Go panic or fatal error); its last words: "panic: oh no"`},
		{[]string{"kill", "2"}, 137, `PE 2 was killed by signal 9 (killed)`},
		{[]string{"leave", "3"}, 1, `PE 3 ended with status 0 without Finalize after Init`},
		{[]string{"exit=3", "3", "stubborn"}, 3, `PE 3 exited with status 3; its last words: "that was it"`},
		{[]string{"abort=7", "2", "no more"}, 7, `PE 2 ended the job with status 7: no more`},
	}
	for _, test := range tests {
		j := newJob(t, onHosts(net, 2, append([]string{"die"}, test.role...)...)...).start(t)
		require.Equal(t, "dying", j.line(t))
		r := j.endsSoon(t)
		require.Equal(t, test.status, r.status, r.stderr)
		require.Equal(t, "gorun: host "+b+": "+test.last, lastLine(r.stderr))
		requireEmpty(t, net)
	}
}

// A PE that ends well without Init ends the job also if those that have called it
// are on other hosts.
func TestHostsDeath_InitIsForAllOrNone(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 3)
	r := run(t, onHosts(net, 1, "mixed")...)
	require.Equal(t, 1, r.status)
	require.Regexp(t, `gorun: host `+net.Hosts[1].Name+`: PE 1 ended with status 0 without Init, which PE [02] has called`, lastLine(r.stderr))
}

func TestHostsDeath_GorunIsKilled(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	j := newJob(t, onHosts(net, 1, "daemon")...).start(t)
	j.expect(t, "daemon 2", "daemon 1", "daemon 0", "daemon 2", "daemon 1", "daemon 0")
	require.NoError(t, j.Process.Kill())
	r := j.endsSoon(t)
	require.Equal(t, -int(syscall.SIGKILL), r.status)
	requireEmpty(t, net)
}

func TestHostsDeath_AProxyIsKilled(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	for i, pes := range []string{"PEs 0 to 1 are", "PEs 2 to 3 are"} {
		j := newJob(t, onHosts(net, 2, "daemon")...).start(t)
		j.expect(t, slices.Repeat([]string{"daemon 2", "daemon 1", "daemon 0"}, 4)...)
		proxy := proxyOn(t, net.Hosts[i])
		require.NoError(t, syscall.Kill(proxy, syscall.SIGKILL))
		r := j.endsSoon(t)
		require.Equal(t, launcher.StatusLostNode, r.status)
		require.Equal(t, fmt.Sprintf("gorun: host %s: the agent ip (process %d) was killed by signal 9 (killed): its %s lost", net.Hosts[i].Name, proxy, pes), lastLine(r.stderr))
		requireEmpty(t, net)
	}
}

// An agent may be another process than the proxy, and end before it.
func TestHostsDeath_AnAgentEnds(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	args := onHosts(net, 1, "daemon", "0")
	args[3] = `ip netns exec {host} sh -c 'exec 3<&0; "$@" <&3 3<&- & wait' sh`
	j := newJob(t, args...).start(t)
	j.expect(t, "daemon 0", "daemon 0")
	agent := processOn(t, net.Hosts[1], "sh\x00-c\x00exec 3<&0.*")
	require.NoError(t, syscall.Kill(agent, syscall.SIGTERM))
	r := j.endsSoon(t)
	require.Equal(t, launcher.StatusLostNode, r.status, r.stderr)
	require.Equal(t, fmt.Sprintf("gorun: host %s: the agent ip (process %d) was killed by signal 15 (terminated): its PE 1 is lost", net.Hosts[1].Name, agent), lastLine(r.stderr))
	requireEmpty(t, net)
}

// startStay starts a job whose PEs wait until PE 0's input ends, or with an argument
// for ever.
func startStay(t *testing.T, net *netns.Net, slots int, args ...string) *job {
	t.Helper()
	j := newJob(t, onHosts(net, slots, append([]string{"stay"}, args...)...)...).start(t)
	for range slots * len(net.Hosts) {
		require.Equal(t, "in", j.line(t))
	}
	return j
}

// losing has a job, on hosts with slots PEs each, lose a host, and checks that it
// ends in time and names that host.
func losing(t *testing.T, net *netns.Net, slots, lost int, lose func()) {
	t.Helper()
	j := startStay(t, net, slots, "on")
	lose()
	cause := time.Now()
	limit := lostSoon + cause.Sub(j.begun) // as in endsSoon
	r := j.end(t)
	require.Less(t, time.Since(cause), limit, r.stderr)
	require.Equal(t, launcher.StatusLostNode, r.status, r.stderr)
	pes := fmt.Sprintf("PE %d is", lost)
	if slots > 1 {
		pes = fmt.Sprintf("PEs %d to %d are", slots*lost, slots*lost+slots-1)
	}
	h := net.Hosts[lost]
	require.Equal(t, fmt.Sprintf("gorun: host %s is not reachable over the data network (address %v): its %s lost", h.Name, h.Addr, pes), lastLine(r.stderr))
	requireEmpty(t, net)
}

func TestHostsDeath_ALinkIsCut(t *testing.T) {
	t.Parallel()
	for _, shape := range []struct{ hosts, slots, lost int }{{2, 2, 1}, {2, 1, 0}, {3, 1, 1}, {3, 1, 0}} {
		t.Run(fmt.Sprintf("%d of %d", shape.lost, shape.hosts), func(t *testing.T) {
			t.Parallel()
			net := netns.New(t, shape.hosts)
			losing(t, net, shape.slots, shape.lost, func() { net.Hosts[shape.lost].Cut(t) })
		})
	}
}

// Nobody sees from its interface whose link is dead, but two of three hosts hear
// each other.
func TestHostsDeath_AHostIsMute(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 3)
	losing(t, net, 1, 0, func() { net.Hosts[0].Mute(t) })
}

// A proxy that is stopped is as good as lost, although nothing of its host has
// ended: it takes a moment longer to get rid of it.
func TestHostsDeath_AProxyIsStopped(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 3)
	losing(t, net, 1, 2, func() { require.NoError(t, syscall.Kill(proxyOn(t, net.Hosts[2]), syscall.SIGSTOP)) })
}

// outlive waits for longer than a host may be silent.
func outlive() { <-time.NewTimer(4 * time.Second).C }

func TestHosts_AStoppedPEIsNotLost(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	j := startStay(t, net, 1)
	proxy := proxyOn(t, net.Hosts[1])
	var stopped int
	for _, pid := range net.Hosts[1].Processes(t) {
		if pid != proxy {
			stopped = pid
		}
	}
	require.NoError(t, syscall.Kill(stopped, syscall.SIGSTOP))
	outlive()
	require.NoError(t, syscall.Kill(stopped, syscall.SIGCONT))
	r := j.end(t)
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.stderr)
}

func TestHosts_StrangersDoNotHarm(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	j := newJob(t, append([]string{"-v"}, onHosts(net, 1, "stay")...)...).start(t)
	j.expect(t, "in", "in")
	listening := regexp.MustCompile(`host (\S+) is at (\S+) on the data network, and listens there at UDP port (\d+)`)
	found := listening.FindAllStringSubmatch(j.stderr.String(), -1)
	require.Len(t, found, 2, j.stderr.String())
	for _, text := range []string{"", "x", strings.Repeat("gsbeat1\n", 7), strings.Repeat("x", 9000)} {
		for _, m := range found {
			out, err := net.Hosts[0].Command("bash", "-c", `printf %s "$1" >/dev/udp/$2/$3`, "bash", text, m[2], m[3]).CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
	}
	outlive()
	r := j.end(t)
	require.Zero(t, r.status, r.stderr)
}

func TestHosts_SignalsAreForwarded(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	j := newJob(t, onHosts(net, 1, "signals", "user defined signal 1", "hangup", "terminated", "interrupt")...).start(t)
	j.expect(t, "ready", "ready")
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGHUP} {
		j.kill(t, s)
		j.expect(t, fmt.Sprintf("PE 0: %v", s), fmt.Sprintf("PE 1: %v", s))
	}
	j.kill(t, syscall.SIGINT)
	j.expect(t, "PE 0: interrupt", "PE 1: interrupt")
	r := j.end(t)
	require.Equal(t, 130, r.status)
	require.Equal(t, "gorun: stopped by signal 2 (interrupt)", lastLine(r.stderr))
	requireEmpty(t, net)
}

func TestHosts_Timeout(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	r := run(t, append([]string{"--timeout", "0.3"}, onHosts(net, 2, "forever")...)...)
	require.Equal(t, launcher.StatusTimeout, r.status)
	require.Equal(t, "gorun: the job has taken longer than 300ms (--timeout)", lastLine(r.stderr))
	requireEmpty(t, net)
}
