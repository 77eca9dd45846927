// SPDX-License-Identifier: BSD-3-Clause

// Package netns makes several hosts out of one machine, for tests on Linux: each
// host is a network namespace, joined to the others by a bridge that stands in
// one more namespace.
//
// The hosts share the machine's file system and process numbers, but neither
// addresses nor, for what [Net.Agent] starts, /dev/shm: so two of them can't
// open each other's shared files. They reach each other and nothing else.
package netns

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/internal/testenv"
)

// Iface is the name of each host's interface.
const Iface = "eth0"

// maxHosts is the most hosts of a Net: their addresses differ in one byte.
const maxHosts = 250

// A Net is a set of hosts that reach each other.
type Net struct {
	Hosts []Host
	hub   string // the namespace with the bridge
}

// A Host is a network namespace with one interface besides the loopback.
type Host struct {
	Name string     // unique on the machine; for ip netns exec
	Addr netip.Addr // of Iface

	hub, port string // the other end of the host's link
}

// New makes n hosts, which are removed at the test's end; processes that are
// left on them then are a failure. Where there is no ip, or no right to make
// namespaces, the test is skipped; it fails instead if GOSHMEM_CI is 1.
func New(t testing.TB, n int) *Net {
	t.Helper()
	testenv.NeedTool(t, "ip", "iproute2")
	testenv.NeedRoot(t)
	if n < 1 || n > maxHosts {
		t.Fatalf("netns: %d hosts, want 1 to %d", n, maxHosts)
	}
	name := "gs" + strings.ToLower(rand.Text()[:8])
	net := &Net{hub: name + "-hub"}
	net.add(t, net.hub)
	run(t, "ip", "-n", net.hub, "link", "add", "bridge", "type", "bridge")
	run(t, "ip", "-n", net.hub, "link", "set", "bridge", "up")
	for i := range n {
		h := Host{
			Name: fmt.Sprintf("%s-%c%s", name, 'a'+i%26, suffix(i/26)),
			Addr: netip.AddrFrom4([4]byte{10, 77, 0, byte(1 + i)}),
			hub:  net.hub,
			port: "port" + strconv.Itoa(i),
		}
		net.add(t, h.Name)
		run(t, "ip", "-n", net.hub, "link", "add", h.port, "type", "veth", "peer", "name", Iface, "netns", h.Name)
		run(t, "ip", "-n", net.hub, "link", "set", h.port, "master", "bridge", "up")
		run(t, "ip", "-n", h.Name, "addr", "add", h.Addr.String()+"/24", "dev", Iface)
		run(t, "ip", "-n", h.Name, "link", "set", "lo", "up")
		run(t, "ip", "-n", h.Name, "link", "set", Iface, "up")
		net.Hosts = append(net.Hosts, h)
	}
	return net
}

func suffix(i int) string {
	if i == 0 {
		return ""
	}
	return strconv.Itoa(i)
}

// add makes a namespace, and has it removed at the test's end.
func (n *Net) add(t testing.TB, name string) {
	t.Helper()
	out, err := exec.Command("ip", "netns", "add", name).CombinedOutput()
	if err != nil {
		// Root may have been denied it, as in a container.
		testenv.Lacks(t, "network namespaces can't be made: %v: %s", err, out)
	}
	t.Cleanup(func() {
		for _, pid := range processes(t, name) {
			command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("netns: process %d is left on %s: %q", pid, name, command)
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
		run(t, "ip", "netns", "delete", name)
	})
}

// Agent returns a command that starts another one on a host, with a /dev/shm of
// its own, for gorun --launcher-exec: {host} stands for the host's name, and the
// other command follows.
func (n *Net) Agent() string {
	return `ip netns exec {host} sh -c 'mount -t tmpfs tmpfs /dev/shm && exec "$@"' sh`
}

// HostList returns the hosts with slots PEs each, for gorun --host.
func (n *Net) HostList(slots int) string {
	var list []string
	for _, h := range n.Hosts {
		list = append(list, fmt.Sprintf("%s:%d", h.Name, slots))
	}
	return strings.Join(list, ",")
}

// Command returns a command that runs on the host when it is started.
func (h Host) Command(name string, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", h.Name, name}, args...)...)
}

// Cut cuts the host's link: the host sees that its interface has no carrier,
// the others see nothing but silence.
func (h Host) Cut(t testing.TB) {
	t.Helper()
	run(t, "ip", "-n", h.hub, "link", "set", h.port, "down")
}

// Mend undoes Cut.
func (h Host) Mend(t testing.TB) {
	t.Helper()
	run(t, "ip", "-n", h.hub, "link", "set", h.port, "up")
}

// Mute takes the host off the network for good. Unlike with Cut, neither end can
// see it from the state of its interface.
func (h Host) Mute(t testing.TB) {
	t.Helper()
	run(t, "ip", "-n", h.hub, "link", "set", h.port, "nomaster")
}

// Processes returns the numbers of the processes on the host.
func (h Host) Processes(t testing.TB) []int {
	t.Helper()
	return processes(t, h.Name)
}

func processes(t testing.TB, name string) []int {
	t.Helper()
	var pids []int
	for field := range strings.FieldsSeq(run(t, "ip", "netns", "pids", name)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// run runs a command, which must not fail, and returns its output.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("netns: %s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
