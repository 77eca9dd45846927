// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/internal/netns"
)

// onHosts returns the arguments of gorun for a job on all hosts of a net, with
// slots PEs each, that play a role.
func onHosts(net *netns.Net, slots int, role ...string) []string {
	return append([]string{"--host", net.HostList(slots), "--launcher-exec", net.Agent()}, pe(slots*len(net.Hosts), role...)...)
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

