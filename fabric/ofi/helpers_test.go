// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// tested names the providers that work on a loopback address.
var tested = [...]Options{{Provider: "tcp;ofi_rxm"}, {Provider: "sockets"}}

const small = 64 << 10 // bytes of a segment

// openAll opens the domains of n PEs in this process.
func openAll(t testing.TB, p *Provider, n int, segment uintptr) []*Domain {
	t.Helper()
	domains := make([]*Domain, n)
	for pe := range domains {
		d, err := p.Open(fabric.Job{PE: pe, NPEs: n, SegmentSize: segment})
		require.NoError(t, err)
		domains[pe] = d.(*Domain)
	}
	return domains
}

// register registers memory with each domain and returns the blobs.
func register(t testing.TB, domains []*Domain, memory func(pe int) []byte) [][]byte {
	t.Helper()
	blobs := make([][]byte, len(domains))
	for pe, d := range domains {
		b, err := d.Register(memory(pe))
		require.NoError(t, err)
		blobs[pe] = b
	}
	return blobs
}

// connect connects the domains and closes them at the end of the test, with
// whatever endpoints are still open.
func connect(t testing.TB, domains []*Domain, blobs [][]byte) {
	t.Helper()
	for _, d := range domains {
		require.NoError(t, d.Connect(fabric.NewTable(blobs)))
	}
	t.Cleanup(func() {
		for _, d := range domains {
			for e := range d.endpoints {
				if err := e.Close(); err != nil && d.ended() == nil {
					t.Errorf("PE %d: close an endpoint: %v", d.job.PE, err)
				}
			}
			if err := d.Close(); err != nil {
				t.Errorf("PE %d: close: %v", d.job.PE, err)
			}
		}
	})
}

// connected returns n connected domains with segments in Go memory.
func connected(t testing.TB, p *Provider, n int, segment int) []*Domain {
	t.Helper()
	domains := openAll(t, p, n, uintptr(segment))
	connect(t, domains, register(t, domains, func(int) []byte { return make([]byte, segment) }))
	return domains
}

// provider returns a provider for n PEs in this process.
func provider(o Options, n int) *Provider {
	o.Crowded = n > runtime.NumCPU()
	return New(o)
}

func endpoint(t testing.TB, d *Domain) *Endpoint {
	t.Helper()
	e, err := d.Endpoint()
	require.NoError(t, err)
	return e.(*Endpoint)
}

// fill fills b with a pattern that differs from byte to byte, and between seeds.
func fill(b []byte, seed int) {
	x := uint32(seed)*2654435761 + 12345
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
}
