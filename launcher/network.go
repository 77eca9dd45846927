// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// The nodes of a job have to agree on a network before any fabric is there: each
// needs the address of its own at which the others reach it. A node finds it
// by the first of these that applies:
//
//  1. the interface that the user has named;
//  2. the local address of the route to the other hosts, if their names can be
//     resolved;
//  3. the one address of its own that shares a subnet with an address of every
//     other node, from where the route to these also leads. For that all nodes
//     tell each other their addresses, by way of the launcher.
//
// Where several addresses would do, the user has to choose.
type network struct {
	Chosen netip.Addr // by 1 or 2; else not valid
	Addrs  []address  // of the node, without loopback and link-local ones
}

// An address is one of an interface's, with the length of its subnet's prefix.
type address struct {
	Iface  string
	Prefix netip.Prefix
}

func (a address) addr() netip.Addr { return a.Prefix.Addr() }

func (a address) String() string { return fmt.Sprintf("%v (%s)", a.Prefix, a.Iface) }

const (
	// resolveWait bounds the look-up of names.
	resolveWait = 2 * time.Second

	// maxResolved is how many other hosts a node looks up: who is routed like
	// these is routed like the rest.
	maxResolved = 3
)

// localNetwork returns the network of the self-th of hosts, this one.
func localNetwork(iface string, hosts []string, self int) (network, error) {
	addrs, loopbacks, err := localAddresses()
	if err != nil {
		return network{}, fmt.Errorf("addresses of this host: %w", err)
	}
	n := network{Addrs: addrs}
	switch {
	case iface != "":
		n.Chosen, err = ifaceAddress(iface, append(addrs, loopbacks...))
	case len(hosts) > 1:
		n.Chosen, err = routedAddress(hosts, self, lookUp, routeTo)
	}
	return n, err
}

// localAddresses returns the addresses of this host's interfaces that are up.
func localAddresses() (addrs, loopbacks []address, err error) {
	ifaces, err := net.Interfaces()
	if err != nil {
		return nil, nil, err
	}
	for _, iface := range ifaces {
		if iface.Flags&net.FlagUp == 0 {
			continue
		}
		list, err := iface.Addrs()
		if err != nil {
			return nil, nil, fmt.Errorf("interface %s: %w", iface.Name, err)
		}
		for _, a := range list {
			prefix, err := netip.ParsePrefix(a.String())
			switch {
			case err != nil, prefix.Addr().IsLinkLocalUnicast():
			case prefix.Addr().IsLoopback():
				loopbacks = append(loopbacks, address{iface.Name, prefix})
			default:
				addrs = append(addrs, address{iface.Name, prefix})
			}
		}
	}
	return addrs, loopbacks, nil
}

// ifaceAddress returns the address of an interface: of several the first of IPv4.
func ifaceAddress(name string, addrs []address) (netip.Addr, error) {
	var found netip.Addr
	var others []string
	for _, a := range addrs {
		switch {
		case a.Iface != name:
			others = append(others, a.String())
		case !found.IsValid(), !found.Is4() && a.addr().Is4():
			found = a.addr()
		}
	}
	if !found.IsValid() {
		return found, fmt.Errorf("no interface %s with an address (--iface); there are: %s", name, orNone(others))
	}
	return found, nil
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// lookUp returns an address of a host, of IPv4 if it has one.
func lookUp(host string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveWait)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, err
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return addrs[0], nil
}

// routeTo returns the local address of the route to addr. It sends nothing.
func routeTo(addr netip.Addr) (netip.Addr, error) {
	const anyPort = 9
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, anyPort)))
	if err != nil {
		return netip.Addr{}, err
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

// routedAddress returns the local address of the route to the hosts other than
// self, or an invalid one if their names can't be looked up.
func routedAddress(hosts []string, self int,
	lookUp func(host string) (netip.Addr, error), routeTo func(to netip.Addr) (netip.Addr, error),
) (found netip.Addr, err error) {
	for i := 1; i < len(hosts) && i <= maxResolved; i++ {
		host := hosts[(self+i)%len(hosts)]
		to, err := lookUp(host)
		if err != nil {
			return netip.Addr{}, nil //nolint:nilerr // then by the addresses of all nodes
		}
		from, err := routeTo(to)
		if err != nil {
			return netip.Addr{}, fmt.Errorf("no route to host %s (address %v): %w", host, to, err)
		}
		if found.IsValid() && from != found {
			return netip.Addr{}, fmt.Errorf("the routes to the other hosts start at different addresses, %v and %v; choose an interface with --iface", found, from)
		}
		found = from
	}
	return found, nil
}

// pick returns the address of the self-th node at which the others reach it.
func pick(networks []network, hosts []string, self int, routeTo func(to netip.Addr) (netip.Addr, error)) (netip.Addr, error) {
	if chosen := networks[self].Chosen; chosen.IsValid() {
		return chosen, nil
	}
	for _, is4 := range []bool{true, false} {
		var found []address
		for _, a := range networks[self].Addrs {
			if a.addr().Is4() == is4 && reachesAll(a, networks, self, routeTo) {
				found = append(found, a)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0].addr(), nil
		default:
			return netip.Addr{}, fmt.Errorf("the other hosts can be reached from several addresses: %s; choose an interface with --iface", list(found))
		}
	}
	const most = 3 // hosts in the text
	var b strings.Builder
	fmt.Fprintf(&b, "no address here shares a subnet with every other host, nor can their names be resolved; here: %s", list(networks[self].Addrs))
	for node, n := range networks {
		if node != self && node < most+1 {
			fmt.Fprintf(&b, "; host %s: %s", hosts[node], list(n.Addrs))
		}
	}
	b.WriteString("; choose an interface with --iface")
	return netip.Addr{}, errors.New(b.String())
}

func list(addrs []address) string {
	var texts []string
	for _, a := range addrs {
		texts = append(texts, a.String())
	}
	return orNone(texts)
}

// reachesAll reports whether own address a leads to an address of every other
// node in a's subnet. An address that another node has as well, as those of
// bridges for containers are, leads to none.
func reachesAll(a address, networks []network, self int, routeTo func(to netip.Addr) (netip.Addr, error)) bool {
	for node, n := range networks {
		if node == self {
			continue
		}
		reached := false
		for _, b := range n.Addrs {
			if b.addr() == a.addr() {
				return false
			}
			if !reached && a.Prefix.Contains(b.addr()) {
				from, err := routeTo(b.addr())
				reached = err == nil && from == a.addr()
			}
		}
		if !reached {
			return false
		}
	}
	return true
}

// isThisHost reports whether a name is one of this machine's.
func isThisHost(name, hostname string) bool {
	if name == "localhost" || name == hostname {
		return true
	}
	addr, err := lookUp(name)
	if err != nil {
		return false
	}
	from, err := routeTo(addr)
	return err == nil && (from == addr || addr.IsLoopback()) // the way to oneself starts where it ends
}
