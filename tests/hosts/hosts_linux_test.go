// SPDX-License-Identifier: BSD-3-Clause

// Package hosts runs programs over libfabric: on one host, and on several, which are
// network namespaces.
package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/internal/netns"
	"github.com/goshmem/goshmem/internal/testenv"
)

const module = "github.com/goshmem/goshmem/"

// patience bounds what only a defect makes long.
const patience = 2 * time.Minute

// build builds a package of the module with libfabric and returns the executable's path.
func build(t *testing.T, pkg string) string {
	t.Helper()
	testenv.NeedLibfabric(t)
	out := filepath.Join(t.TempDir(), filepath.Base(pkg))
	goTool(t, "build", "-tags", "ofi", "-o", out, module+pkg)
	return out
}

func goTool(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %s: %s", args, out)
}

// A result is what is left of a job.
type result struct {
	stdout, stderr string
	status         int
	took           time.Duration
}

// gorun is the command, built once for a test.
type gorun struct{ path string }

func newGorun(t *testing.T) gorun {
	t.Helper()
	return gorun{build(t, "launcher/gorun")}
}

// command returns a job that was not started.
func (g gorun) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, g.path, args...)
}

// run runs a job.
func (g gorun) run(t *testing.T, args ...string) result {
	t.Helper()
	return wait(t, g.command(t, args...), nil)
}

// wait runs a job, calls meanwhile unless it is nil, and waits for the job's end. took is the
// time from when meanwhile has returned.
func wait(t *testing.T, cmd *exec.Cmd, meanwhile func()) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Start())
	if meanwhile != nil {
		meanwhile()
	}
	begin := time.Now()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode(), time.Since(begin)}
}

// on returns the arguments of gorun for a job on all hosts of a net, with slots PEs each.
func on(net *netns.Net, slots int, program ...string) []string {
	return append([]string{"--host", net.HostList(slots), "--launcher-exec", net.Agent()}, program...)
}

// shapes are the jobs that programs run as.
var shapes = []struct{ hosts, slots int }{{2, 2}, {3, 1}}

func TestPrograms(t *testing.T) {
	g := newGorun(t)
	programs := map[string][]string{
		"ring": {build(t, "examples/ring")},
		"gups": {build(t, "examples/gups"), "-n", "10"},
		"is":   {build(t, "examples/nas/is"), "-class", "S"},
		"ep":   {build(t, "examples/nas/ep"), "-class", "S"},
		"cg":   {build(t, "examples/nas/cg"), "-class", "S"},
		"ft":   {build(t, "examples/nas/ft"), "-class", "S"},
		"mg":   {build(t, "examples/nas/mg"), "-class", "S"},

		"histogram": {build(t, "examples/histogram"), "-n", "8"},
	}
	powers := map[string]bool{"ft": true, "mg": true} // of two are all that they run on
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			r := g.run(t, append([]string{"-np", "4", "--fabric", "ofi"}, program...)...)
			require.Zero(t, r.status, "one host: %s", r.stderr)
			for _, shape := range shapes {
				if powers[name] && shape.hosts*shape.slots == 3 {
					continue
				}
				r := g.run(t, on(netns.New(t, shape.hosts), shape.slots, program...)...)
				require.Zero(t, r.status, "%d hosts of %d PEs: %s", shape.hosts, shape.slots, r.stderr)
			}
		})
	}
}

// TestConformance runs the table of promises as processes on several hosts.
func TestConformance(t *testing.T) {
	testenv.NeedLibfabric(t)
	g := newGorun(t)
	table := filepath.Join(t.TempDir(), "conformance")
	goTool(t, "test", "-tags", "ofi", "-c", "-o", table, module+"tests/conformance")
	for _, shape := range shapes {
		t.Run(fmt.Sprintf("%d hosts of %d PEs", shape.hosts, shape.slots), func(t *testing.T) {
			dir := t.TempDir()
			cmd := g.command(t, on(netns.New(t, shape.hosts), shape.slots, table)...)
			cmd.Env = append(os.Environ(), "GOSHMEM_CONFORMANCE_PROGRAM="+dir, "GOSHMEM_CONFORMANCE_WAY=ofi tcp;ofi_rxm")
			r := wait(t, cmd, nil)
			require.Zero(t, r.status, r.stderr)
			// Status 0 says that each PE has kept the promises that it came to: there must be many.
			for pe := range shape.hosts * shape.slots {
				report, err := os.ReadFile(filepath.Join(dir, "pe"+strconv.Itoa(pe)))
				require.NoError(t, err)
				require.Greater(t, bytes.Count(report, []byte("\n")), 100)
			}
		})
	}
}

// TestUneven: hosts of which one has more PEs than cores and the other has not.
func TestUneven(t *testing.T) {
	g, ring := newGorun(t), build(t, "examples/ring")
	net := netns.New(t, 2)
	crowded := runtime.NumCPU() + 1
	r := g.run(t, "--host", fmt.Sprintf("%s:%d,%s:1", net.Hosts[0].Name, crowded, net.Hosts[1].Name), "--launcher-exec", net.Agent(), ring)
	require.Zero(t, r.status, r.stderr)
}

func TestStats_CountCallsOfLibfabric(t *testing.T) {
	g, is := newGorun(t), build(t, "examples/nas/is")
	r := g.run(t, "-np", "2", "--fabric", "ofi", "--stats", is, "-class", "S")
	require.Zero(t, r.status, r.stderr)
	require.Regexp(t, `goshmem: calls of libfabric by 2 PEs over tcp;ofi_rxm:\ngoshmem:   fi_writemsg +[1-9]\d* `, r.stderr)
	require.Regexp(t, `fi_atomicmsg +[1-9]`, r.stderr)
	r = g.run(t, "-np", "2", "--stats", is, "-class", "S")
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stderr, "libfabric was not used")
}

// TestNasbench: the kernels' measure on two hosts.
func TestNasbench(t *testing.T) {
	testenv.NeedLibfabric(t)
	netns.New(t, 1) // or there can be none
	cmd := exec.CommandContext(t.Context(), "../nasbench/two-hosts.sh", "-kernels", "is", "-classes", "S", "-rounds", "1")
	r := wait(t, cmd, nil)
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stdout, "| IS | S | 2 |")
}

// TestAddress: what a host's PEs tell others to reach them at is the address of its interface.
func TestAddress(t *testing.T) {
	g, hello := newGorun(t), build(t, "examples/hello")
	net := netns.New(t, 2)
	for _, flags := range [][]string{nil, {"--iface", netns.Iface}} {
		r := g.run(t, append(flags, on(net, 1, "--export", "SHMEM_DEBUG=1", hello)...)...)
		require.Zero(t, r.status, r.stderr)
		for i, h := range net.Hosts {
			require.Regexp(t, fmt.Sprintf(`PEs %d to %[1]d of 2 share memory; others are reached over tcp;ofi_rxm at fi_sockaddr_in://%s:`, i, h.Addr), r.stderr)
		}
	}
	r := g.run(t, "-np", "2", "--fabric", "ofi", "--export", "SHMEM_DEBUG=1", hello)
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stderr, "all transfers over tcp;ofi_rxm at fi_sockaddr_in://127.0.0.1:")
}

// endsWithin is how soon a job ends when a PE or a node is lost.
const endsWithin = 5 * time.Second

// TestLoss: in the midst of transfers a host's link is cut, or a PE is killed.
func TestLoss(t *testing.T) {
	g, gups := newGorun(t), build(t, "examples/gups")
	for _, c := range []struct {
		name string
		lose func(t *testing.T, h netns.Host)
		want func(net *netns.Net) string
	}{
		{"the link is cut", func(t *testing.T, h netns.Host) { t.Helper(); h.Cut(t) }, func(net *netns.Net) string { return net.Hosts[1].Name }},
		{"the host is mute", func(t *testing.T, h netns.Host) { t.Helper(); h.Mute(t) }, func(net *netns.Net) string { return net.Hosts[1].Name }},
		{"a PE is killed", func(t *testing.T, h netns.Host) { t.Helper(); kill(t, h, gups) }, func(*netns.Net) string { return "PE [23] was killed by signal 9" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := netns.New(t, 2)
			cmd := g.command(t, on(net, 2, gups, "-n", "24")...)
			r := wait(t, cmd, func() {
				require.Eventually(t, func() bool { return transferred(t, net.Hosts[1]) }, patience, 10*time.Millisecond)
				c.lose(t, net.Hosts[1])
			})
			require.NotZero(t, r.status)
			require.Less(t, r.took, endsWithin, r.stderr)
			require.Regexp(t, c.want(net), lastLine(r.stderr))
		})
	}
}

// transferred reports whether much has come to a host over its interface.
func transferred(t *testing.T, h netns.Host) bool {
	t.Helper()
	out, err := h.Command("cat", "/sys/class/net/"+netns.Iface+"/statistics/rx_bytes").Output()
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	return n > 1<<20
}

// kill kills a PE, one of the host's processes that run a program.
func kill(t *testing.T, h netns.Host, program string) {
	t.Helper()
	for _, pid := range h.Processes(t) {
		if path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && path == program {
			p, err := os.FindProcess(pid)
			require.NoError(t, err)
			require.NoError(t, p.Kill())
			return
		}
	}
	t.Fatalf("%s does not run %s", h.Name, program)
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return lines[len(lines)-1]
}
