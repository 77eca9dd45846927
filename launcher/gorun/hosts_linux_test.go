// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/internal/netns"
	"github.com/goshmem/goshmem/internal/testenv"
	"github.com/goshmem/goshmem/launcher"
)

// onHosts returns the arguments of gorun for a job on all hosts of a net, with
// slots PEs each, that play a role.
func onHosts(net *netns.Net, slots int, role ...string) []string {
	return append([]string{"--host", net.HostList(slots), "--launcher-exec", net.Agent(), os.Args[0], peArg}, role...)
}

func TestHosts_PEsFindEachOther(t *testing.T) {
	t.Parallel()
	for _, shape := range []struct{ hosts, slots int }{{2, 2}, {3, 1}, {1, 2}} {
		net := netns.New(t, shape.hosts)
		np := shape.hosts * shape.slots
		r := run(t, onHosts(net, shape.slots, "hello")...)
		require.Zero(t, r.status, r.stderr)
		require.Empty(t, r.stderr)
		var want []string
		for i := range np {
			want = append(want, fmt.Sprintf("PE %d of %d, sum %d, by gorun", i, np, np*(np-1)/2))
		}
		require.ElementsMatch(t, want, linesOf(r.stdout))
	}
}

func TestHosts_EachHasItsAddressAndItsRange(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 3)
	var addrs [3]string
	for i, h := range net.Hosts {
		addrs[i] = h.Addr.String()
	}
	for _, iface := range [][]string{nil, {"--iface", netns.Iface}} {
		// Hosts are filled one after the other; the third one is not needed.
		r := run(t, append(append([]string{"-np", "3"}, iface...), onHosts(net, 2, "where")...)...)
		require.Zero(t, r.status, r.stderr)
		require.ElementsMatch(t, []string{
			fmt.Sprintf("PE 0: one of 2 from 0 of 3 at %q", addrs[0]),
			fmt.Sprintf("PE 1: one of 2 from 0 of 3 at %q", addrs[0]),
			fmt.Sprintf("PE 2: one of 1 from 2 of 3 at %q", addrs[1]),
		}, linesOf(r.stdout))
	}
	r := run(t, append([]string{"-np", "2"}, onHosts(net, 2, "where")...)...)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, 2, strings.Count(r.stdout, `one of 2 from 0 of 2 at ""`), "all PEs share a node: %s", r.stdout)
}

func TestHosts_WithoutAnAgentThereIsThisOne(t *testing.T) {
	t.Parallel()
	r := run(t, "--host", "localhost:2", os.Args[0], peArg, "where")
	require.Zero(t, r.status, r.stderr)
	require.ElementsMatch(t, []string{`PE 0: one of 2 from 0 of 2 at ""`, `PE 1: one of 2 from 0 of 2 at ""`}, linesOf(r.stdout))

	// By two names it is two hosts.
	r = run(t, "--host", "localhost,127.0.0.1", os.Args[0], peArg, "where")
	require.Zero(t, r.status, r.stderr)
	require.ElementsMatch(t, []string{`PE 0: one of 1 from 0 of 2 at "127.0.0.1"`, `PE 1: one of 1 from 1 of 2 at "127.0.0.1"`}, linesOf(r.stdout))

	r = run(t, "--host", "localhost,198.51.100.77", "echo", "x")
	require.Equal(t, launcher.StatusUsage, r.status)
	require.Contains(t, r.stderr, "host 198.51.100.77 is not this machine, and gorun can't use ssh yet: give a command that starts another one there, such as --launcher-exec")

	r = run(t, "--iface", "lo", "-np", "1", os.Args[0], peArg, "where")
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, "PE 0: one of 1 from 0 of 1 at \"127.0.0.1\"\n", r.stdout)
}

func TestHosts_WhatCanNotBeStarted(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	a, b := net.Hosts[0].Name, net.Hosts[1].Name
	on := func(agent string) []string {
		return []string{"--host", net.HostList(1), "--launcher-exec", agent}
	}
	mount := strings.TrimSuffix(net.Agent(), `exec "$@"' sh`)
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755))
	tests := []struct {
		name   string
		args   []string
		status int
		want   string // of the last line
	}{
		{"an agent that is not there", append(on("no-such-agent {host}"), "sleep", "1000"), launcher.StatusUsage, `agent \(--launcher-exec\): .*no-such-agent`},
		{"an agent that fails", append(on("ip netns exec {host}-x"), "sleep", "1000"), launcher.StatusError, `host .*: the agent ip \(process \d+\) exited with status \d+ before gorun has answered from there; is there a gorun at ` + regexp.QuoteMeta(os.Args[0])},
		{"an agent that fails on one host", append(on(fmt.Sprintf(`sh -c '[ {host} = %s ] || exec sleep 1000; exit 4'`, b)), "sleep", "1000"), launcher.StatusError, "host " + b + `: the agent sh \(process \d+\) exited with status 4 before gorun has answered`},
		{"an agent that chats", append(on(`sh -c 'echo Welcome to {host}; exec sleep 1000'`), "sleep", "1000"), launcher.StatusError, `host .*: the agent sh \(process \d+\) does not speak gorun's protocol: malformed frame`},
		{"an interface that is not there", append(append([]string{"--iface", "ib7"}, on(net.Agent())...), "sleep", "1000"), launcher.StatusUsage, `host .*: no interface ib7 with an address \(--iface\); there are: .*eth0.*127\.0\.0\.1/8 \(lo\)`},
		{"no program on one host", append(on(mount+fmt.Sprintf(`{ [ {host} = %s ] || mount -t tmpfs tmpfs %s; } && exec "$@"' sh`, a, dir)), program), launcher.StatusNotFound, "host " + b + ": " + regexp.QuoteMeta(program) + " not found.*: if gorun has built it, set TMPDIR to a folder that they share, or build it first"},
		{"no network", append(on(`ip netns exec {host} sh -c 'ip addr flush dev eth0; exec "$@"' sh`), "sleep", "1000"), launcher.StatusUsage, `host .*: no address here shares a subnet with every other host, nor can their names be resolved; here: none; host .*: none; choose an interface`},
	}
	for _, test := range tests {
		begun := time.Now()
		r := run(t, test.args...)
		require.Less(t, time.Since(begun), lostSoon, test.name)
		require.Equal(t, test.status, r.status, "%s: %s", test.name, r.stderr)
		require.Regexp(t, "^gorun: "+test.want, lastLine(r.stderr), test.name)
	}
}

// An interrupt is the cause of what follows, also before any host has answered.
func TestHosts_InterruptedBeforeTheyAnswer(t *testing.T) {
	t.Parallel()
	agent := `sh -c '[ {host} = a ] || kill -INT $PPID; exec sleep 1000'` // gorun's child
	j := newJob(t, "--host", "a,b", "--launcher-exec", agent, "sleep", "1000").start(t)
	r := j.endsSoon(t)
	require.Equal(t, 130, r.status, r.stderr)
	require.Equal(t, "gorun: stopped by signal 2 (interrupt)", lastLine(r.stderr))
}

// A link that is damaged on its way to a proxy is no end of the job.
func TestHosts_ADamagedLink(t *testing.T) {
	t.Parallel()
	// Behind none, the job, and all that a proxy gets before its PEs run.
	for _, frames := range []int{0, 1, 3} {
		agent := fmt.Sprintf("%s %s damage %d {host}", os.Args[0], peArg, frames)
		j := newJob(t, "--host", "localhost,127.0.0.1", "--launcher-exec", agent, "sleep", "1000")
		r := j.start(t).end(t)
		require.Equal(t, launcher.StatusError, r.status, r.stderr)
		require.Regexp(t, `^gorun: host (localhost|127\.0\.0\.1): link: malformed frame: 4294967295 bytes`, lastLine(r.stderr))
	}
}

// Each host may have a command of its own.
func TestHosts_AnAgentNamedAfterItsHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, host := range []string{"localhost", "127.0.0.1"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, host), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755))
	}
	r := run(t, "--host", "localhost,127.0.0.1", "--launcher-exec", dir+"/{host}", os.Args[0], peArg, "where")
	require.Zero(t, r.status, r.stderr)
	require.Len(t, linesOf(r.stdout), 2)

	r = run(t, "--host", "localhost,elsewhere", "--launcher-exec", dir+"/{host}", os.Args[0], peArg, "where")
	require.Equal(t, launcher.StatusUsage, r.status)
	require.Contains(t, r.stderr, dir+"/elsewhere")
}

func TestHosts_StandardInputIsOfPE0(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	data := bytes.Repeat([]byte("all of it, in order\n"), 200_000)
	j := newJob(t, onHosts(net, 1, "sum")...).start(t)
	_, err := j.stdin.Write(data)
	require.NoError(t, err)
	r := j.end(t)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, fmt.Sprintf("%d bytes, %08x\n", len(data), crc32.ChecksumIEEE(data)), r.stdout)

	r = run(t, onHosts(net, 1, "sum")...)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, "0 bytes, 00000000\n", r.stdout)

	// PE 0 may end before its input does.
	j = newJob(t, onHosts(net, 1, "sum", "5")...).start(t)
	_, err = j.stdin.Write(data[:1000])
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("5 bytes, %08x", crc32.ChecksumIEEE(data[:5])), j.line(t))
	r = j.endsSoon(t)
	require.Zero(t, r.status, r.stderr)

	r = run(t, onHosts(net, 2, "read")...)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, 4, strings.Count(r.stdout, `"" EOF`), r.stdout)
}

func TestHosts_OutputIsWholeLines(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	r := run(t, append([]string{"-l"}, onHosts(net, 1, "flood")...)...)
	require.Zero(t, r.status, r.stderr)
	count := map[string]int{}
	for _, line := range linesOf(r.stdout) {
		count[line]++
	}
	x := strings.Repeat("x", 99)
	require.Equal(t, map[string]int{"[0] " + x: floodLines, "[1] " + x: floodLines}, count)
	require.Empty(t, r.stderr)

	r = run(t, onHosts(net, 1, "flood")...)
	require.Zero(t, r.status, r.stderr)
	require.Len(t, r.stdout, 2*100*floodLines)
}

func TestHosts_EnvironmentAndFolder(t *testing.T) {
	t.Parallel()
	net := netns.New(t, 2)
	raw := "a b\n\xff\"'$HOME"
	j := newJob(t, append([]string{"-x", "A=" + raw, "--fabric", "ofi", "--stats"}, onHosts(net, 1, "env", "A", "SHMEM_FABRIC", "SHMEM_STATS")...)...)
	dir := t.TempDir()
	j.Dir = dir
	r := j.start(t).end(t)
	require.Zero(t, r.status, r.stderr)
	for _, line := range []string{"A " + raw + " true", "SHMEM_FABRIC ofi true", "SHMEM_STATS 1 true", dir} {
		require.Equal(t, 2, strings.Count(r.stdout, line+"\n"), "%q in %q", line, r.stdout)
	}
}

func TestHosts_PEsInheritNoMoreThanTheyNeed(t *testing.T) {
	t.Parallel()
	alone := newJob(t)
	alone.Args = append(alone.Args[:1], peArg, "fds")
	inherited := strings.Fields(alone.start(t).end(t).stdout)
	r := run(t, onHosts(netns.New(t, 2), 1, "fds")...)
	require.Zero(t, r.status, r.stderr)
	for _, line := range linesOf(r.stdout) {
		require.Subset(t, append(inherited, "3", "4", "5"), strings.Fields(line))
	}
}

func TestHosts_ABuiltProgramRunsOnAll(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "go", "golang-go")
	dir := module(t, "package main\n\nfunc main() { println(tag) }\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "on.go"), []byte("//go:build ofi\n\npackage main\n\nconst tag = `with ofi`\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "off.go"), []byte("//go:build !ofi\n\npackage main\n\nconst tag = `without ofi`\n"), 0o644))
	net := netns.New(t, 2)
	r := run(t, "--host", net.HostList(1), "--launcher-exec", net.Agent(), dir)
	require.Zero(t, r.status, r.stderr)
	require.Equal(t, "with ofi\nwith ofi\n", r.stderr)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--fabric", "ofi"}, "with ofi\n"},
		{[]string{"--fabric", "shm"}, "without ofi\n"},
		{[]string{"--host", "localhost:1"}, "without ofi\n"},
	} {
		r := run(t, append(test.args, dir)...)
		require.Zero(t, r.status, r.stderr)
		require.Equal(t, test.want, r.stderr, "%v", test.args)
	}
}

func TestHosts_MPIProgramsOfMPICHRun(t *testing.T) {
	t.Parallel()
	program := buildMPI(t)
	net := netns.New(t, 2)
	r := run(t, "--host", net.HostList(2), "--launcher-exec", net.Agent(), program)
	require.Zero(t, r.status, r.stderr)
	require.ElementsMatch(t, []string{
		"rank 0 of 4, 2 near, sum 6",
		"rank 1 of 4, 2 near, sum 6",
		"rank 2 of 4, 2 near, sum 6",
		"rank 3 of 4, 2 near, sum 6",
	}, linesOf(r.stdout))
}
