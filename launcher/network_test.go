// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"encoding/json"
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// addrsOf makes a node's addresses of pairs of an interface and a prefix.
func addrsOf(t *testing.T, pairs ...string) []address {
	t.Helper()
	var list []address
	for i := 0; i < len(pairs); i += 2 {
		prefix, err := netip.ParsePrefix(pairs[i+1])
		require.NoError(t, err)
		list = append(list, address{pairs[i], prefix})
	}
	return list
}

// fromSubnet is routeTo for a host with these addresses and no routes but those
// to their subnets.
func fromSubnet(addrs []address) func(netip.Addr) (netip.Addr, error) {
	return func(to netip.Addr) (netip.Addr, error) {
		for _, a := range addrs {
			if a.Prefix.Contains(to) {
				return a.addr(), nil
			}
		}
		return netip.Addr{}, errors.New("network is unreachable")
	}
}

func TestPick(t *testing.T) {
	tests := map[string]struct {
		nodes [][]string // pairs of interface and prefix; the first is of the node that picks
		want  string     // the address, or part of the error
	}{
		"one network": {
			[][]string{{"eth0", "10.0.0.1/24"}, {"eth0", "10.0.0.2/24"}, {"eth0", "10.0.0.3/24"}}, "10.0.0.1",
		},
		"one that leads to some only": {
			[][]string{{"eth0", "10.0.0.1/24", "eth1", "10.1.0.1/24"}, {"eth0", "10.0.0.2/24", "eth1", "10.1.0.2/24"}, {"eth1", "10.1.0.3/24"}}, "10.1.0.1",
		},
		"IPv4 before IPv6": {
			[][]string{{"eth0", "fd00::1/64", "eth0", "10.0.0.1/24"}, {"eth0", "fd00::2/64", "eth0", "10.0.0.2/24"}}, "10.0.0.1",
		},
		"IPv6 where IPv4 does not lead": {
			[][]string{{"eth0", "fd00::1/64", "eth0", "10.0.0.1/24"}, {"eth0", "fd00::2/64", "eth0", "10.9.0.2/24"}}, "fd00::1",
		},
		"each host's own bridge is none": {
			[][]string{{"docker0", "172.17.0.1/16", "eth0", "10.0.0.1/24"}, {"docker0", "172.17.0.1/16", "eth0", "10.0.0.2/24"}}, "10.0.0.1",
		},
		"two networks": {
			[][]string{{"eth0", "10.0.0.1/24", "eth1", "10.1.0.1/24"}, {"eth0", "10.0.0.2/24", "eth1", "10.1.0.2/24"}},
			"from several addresses: 10.0.0.1/24 (eth0), 10.1.0.1/24 (eth1); choose an interface with --iface",
		},
		"no network": {
			[][]string{{"eth0", "10.0.0.1/24"}, {"eth0", "10.1.0.2/24"}, {}},
			"here: 10.0.0.1/24 (eth0); host b: 10.1.0.2/24 (eth0); host c: none; choose an interface with --iface",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var networks []network
			for _, pairs := range test.nodes {
				networks = append(networks, network{Addrs: addrsOf(t, pairs...)})
			}
			// As it comes over the link.
			data, err := json.Marshal(networks)
			require.NoError(t, err)
			networks = nil
			require.NoError(t, json.Unmarshal(data, &networks))

			got, err := pick(networks, []string{"a", "b", "c"}, 0, fromSubnet(networks[0].Addrs))
			if err != nil {
				require.ErrorContains(t, err, test.want)
			} else {
				require.Equal(t, test.want, got.String())
			}
			networks[0].Chosen = netip.MustParseAddr("192.0.2.7")
			got, err = pick(networks, nil, 0, nil)
			require.NoError(t, err)
			require.Equal(t, "192.0.2.7", got.String(), "chosen before")
		})
	}
}

func TestIfaceAddress(t *testing.T) {
	addrs := addrsOf(t, "eth0", "fd00::1/64", "eth0", "10.0.0.1/24", "eth0", "10.0.0.9/24", "eth1", "fd01::1/64")
	for iface, want := range map[string]string{"eth0": "10.0.0.1", "eth1": "fd01::1"} {
		got, err := ifaceAddress(iface, addrs)
		require.NoError(t, err)
		require.Equal(t, want, got.String())
	}
	_, err := ifaceAddress("ib0", addrs[2:])
	require.EqualError(t, err, "no interface ib0 with an address (--iface); there are: 10.0.0.9/24 (eth0), fd01::1/64 (eth1)")
	_, err = ifaceAddress("ib0", nil)
	require.ErrorContains(t, err, "there are: none")
}

func TestRoutedAddress(t *testing.T) {
	routes := fromSubnet(addrsOf(t, "eth0", "10.0.0.1/24", "eth1", "10.1.0.1/24"))
	tests := map[string]struct {
		hosts []string // that are addresses can be looked up; the second one is this
		want  string
	}{
		"one way to all":         {[]string{"10.0.0.2", "self", "10.0.0.3"}, "10.0.0.1"},
		"a name that is unknown": {[]string{"10.0.0.2", "self", "unknown"}, "invalid IP"},
		"two ways":               {[]string{"10.0.0.2", "self", "10.1.0.2"}, "start at different addresses, 10.1.0.1 and 10.0.0.1; choose an interface"},
		"no way":                 {[]string{"10.7.0.2", "self"}, "no route to host 10.7.0.2 (address 10.7.0.2): network is unreachable"},
		"not all are looked up":  {[]string{"unknown", "self", "10.0.0.2", "10.0.0.3", "10.0.0.4"}, "10.0.0.1"},
	}
	for name, test := range tests {
		got, err := routedAddress(test.hosts, 1, netip.ParseAddr, routes)
		if err != nil {
			require.ErrorContains(t, err, test.want, name)
		} else {
			require.Equal(t, test.want, got.String(), name)
		}
	}
}

func TestIsThisHost(t *testing.T) {
	_, loopbacks, err := localAddresses()
	require.NoError(t, err)
	require.NotEmpty(t, loopbacks)
	for name, want := range map[string]bool{"localhost": true, "me": true, "127.0.0.1": true, "127.0.1.1": true, "198.51.100.77": false, "no-such-host.invalid": false} {
		require.Equal(t, want, isThisHost(name, "me"), name)
	}
}
