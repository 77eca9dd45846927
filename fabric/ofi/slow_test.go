// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/netns"
)

// slowRole says in a process's environment that it is PE 0 at one end of a slow link: its
// address, and name and address of the other end.
const slowRole = "GOSHMEM_OFI_TEST_SLOW"

// TestNBI_OverlapOnASlowLink: many non-blocking puts over a link whose round trip takes
// 20 ms are under way together, and so are the gets and fetches after them.
func TestNBI_OverlapOnASlowLink(t *testing.T) {
	if ends := os.Getenv(slowRole); ends != "" {
		overlap(t, strings.Fields(ends))
		return
	}
	hosts := netns.New(t, 2).Hosts
	hosts[0].Delay(t, 10*time.Millisecond)
	for _, h := range hosts {
		// A new connection begins with ten segments a round trip, or spreads them: that is not
		// what is tested.
		route := h.Command("ip", "route", "replace", netip.PrefixFrom(h.Addr, 24).Masked().String(), "dev", netns.Iface, "initcwnd", "200", "initrwnd", "200", "congctl", "reno")
		out, err := route.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := hosts[0].Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), slowRole+"="+hosts[0].Addr.String()+" "+hosts[1].Name+" "+hosts[1].Addr.String())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, err)
}

// overlap is that test at the near end of the link.
func overlap(t *testing.T, ends []string) {
	t.Helper()
	const operations, trips, tries = 64, 3, 20
	exe, err := os.Executable()
	require.NoError(t, err)
	p := startPeerBy(t, exec.Command("ip", "netns", "exec", ends[1], exe),
		Options{Provider: "tcp;ofi_rxm", Source: ends[0]}, ends[2], "serve")
	e := endpoint(t, p.domain)
	took := func(f func()) time.Duration {
		begin := time.Now()
		f()
		require.NoError(t, e.Quiet())
		return time.Since(begin)
	}
	trip := time.Hour
	for range 3 { // the first one connects
		trip = min(trip, took(func() { require.NoError(t, e.Get(1, make([]byte, 8), 0)) }))
	}
	require.Greater(t, trip, 20*time.Millisecond, "the link is not slow")
	src, dst := make([]byte, 8*operations), make([]byte, 8*operations)
	fill(src, 1)
	for name, f := range map[string]func(off int) error{
		"put": func(off int) error { return e.PutNBI(1, fabric.Addr(off), src[off:][:8]) },
		"get": func(off int) error { return e.GetNBI(1, dst[off:][:8], fabric.Addr(off)) },
		"fetch": func(off int) error {
			return e.FetchAtomicNBI(1, fabric.OpSum, fabric.Uint64, fabric.Addr(4096+off), 1, 0, dst[off:][:8])
		},
	} {
		best := time.Hour
		for try := 0; try < tries && best >= trips*trip; try++ { // other work on the machine delays too
			best = min(best, took(func() {
				for k := range operations {
					require.NoError(t, f(8*k))
				}
			}))
		}
		t.Logf("%d of %s take %v, a round trip %v", operations, name, best, trip)
		require.Less(t, best, trips*trip, name)
	}
	require.NoError(t, e.Get(1, dst, 0))
	require.Equal(t, src, dst)
}
