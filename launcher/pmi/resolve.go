// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// dialName connects to host:port, as PMI_PORT gives it.
func dialName(hostport string) (*os.File, error) {
	i := strings.LastIndexByte(hostport, ':')
	if i < 0 {
		return nil, fmt.Errorf("%.80q: want host:port", hostport)
	}
	port, err := strconv.ParseUint(hostport[i+1:], 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port %.40q: want a number up to 65535", hostport[i+1:])
	}
	self, _ := os.Hostname()            // "" is no host
	hosts, _ := os.ReadFile(hostsTable) // none is like an empty one
	addr, err := resolve(strings.Trim(hostport[:i], "[]"), self, string(hosts))
	if err != nil {
		return nil, err
	}
	return dial(netip.AddrPortFrom(addr, uint16(port)), time.Now().Add(handshakeWait))
}

const hostsTable = "/etc/hosts"

// resolve returns the address of a PMI-1 server's host. The server of a task is
// on the task's own node, so its name is that of this host, if it is not in the
// table of hosts; no other name is looked up.
func resolve(host, self, hosts string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, nil
	}
	for line := range strings.Lines(hosts) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			if strings.EqualFold(fields[i], host) {
				if addr, err := netip.ParseAddr(fields[0]); err == nil {
					return addr, nil
				}
			}
		}
	}
	short := func(name string) string {
		first, _, _ := strings.Cut(name, ".")
		return first
	}
	if host != "" && strings.EqualFold(short(host), short(self)) {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	return netip.Addr{}, fmt.Errorf("host %.80q is no address, not in %s, and not this host (%s); let the launcher hand over a descriptor (PMI_FD) instead", host, hostsTable, self)
}
