// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// beats exchanges beats with the neighbours among peers, which are the nodes of
// the job, and reports those that are late to the launcher. It goes on until
// this process ends.
func (p *proxy) beats(peers []netip.AddrPort) error {
	if len(peers) != len(p.job.Nodes) {
		return fmt.Errorf("%d addresses of %d nodes", len(peers), len(p.job.Nodes))
	}
	source := p.beat.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	iface, err := ifaceOf(source)
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards pulse
	pulse := newPulse(p.job.ID, p.job.Secret, p.job.Node, len(peers), time.Now())
	go func() {
		b := make([]byte, beatSize+1) // one more tells what is too long
		for {
			n, _, err := p.beat.ReadFromUDPAddrPort(b)
			if err != nil {
				continue // of one datagram; the socket is never closed
			}
			mu.Lock()
			pulse.hear(b[:n], time.Now())
			mu.Unlock()
		}
	}()
	go func() {
		reported := false
		for i := 0; ; i++ {
			mu.Lock()
			if i%int(beatEvery/beatTick) == 0 {
				for _, n := range pulse.near {
					// If it can't be sent, the others will tell.
					_, _ = p.beat.WriteToUDPAddrPort(pulse.beat(n.node), peers[n.node])
				}
			}
			late := pulse.late(time.Now())
			mu.Unlock()
			if len(late) > 0 || reported {
				data, err := json.Marshal(lateness{Down: isDown(net.InterfaceByIndex(iface)), Late: late})
				if err == nil {
					p.up.send(frame{kind: frameLate, data: data})
				}
				reported = len(late) > 0
			}
			time.Sleep(beatTick)
		}
	}()
	return nil
}

// ifaceOf returns the number of the interface with an address.
func ifaceOf(addr netip.Addr) (int, error) {
	ifaces, err := net.Interfaces()
	if err != nil {
		return 0, fmt.Errorf("interfaces of this host: %w", err)
	}
	for _, iface := range ifaces {
		addrs, err := iface.Addrs()
		if err != nil {
			continue // it has just gone
		}
		for _, a := range addrs {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr() == addr {
				return iface.Index, nil
			}
		}
	}
	return 0, fmt.Errorf("no interface of this host has the address %v", addr)
}

// isDown reports whether what [net.InterfaceByIndex] has returned says that the
// interface has no link, or is not there any more. If the system has refused to
// tell, it may well be up.
func isDown(iface *net.Interface, err error) bool {
	var refused syscall.Errno
	if err != nil {
		return !errors.As(err, &refused)
	}
	return iface.Flags&net.FlagUp == 0 || iface.Flags&net.FlagRunning == 0
}
