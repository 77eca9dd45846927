// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// TestStranger_ChangesNothing: who connects to a PE's endpoint and talks nonsense neither
// writes to its segment nor keeps others from it.
func TestStranger_ChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100<<10)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	// What a connection begins with to ofi_rxm's eyes, and then noise: ofi_ctrl_hdr of libfabric's
	// ofi_proto.h, a request for a connection.
	greeting := append([]byte{0, 4, 0, 64}, noise[:1000]...)
	binary.BigEndian.PutUint16(greeting[2:], 500)
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			e := endpoint(t, p.domain)
			want := pattern(peerSegment, 1)
			require.NoError(t, e.Put(1, 0, want))
			require.NoError(t, e.Quiet())
			sayings := map[string][]byte{
				"nothing": nil, "a byte": {1}, "zeros": make([]byte, 4096), "noise": noise, "a greeting": greeting, "HTTP": []byte("GET / HTTP/1.1\r\n\r\n"),
			}
			if o.Provider == "sockets" {
				// It takes what is long enough for a message: see docs/security.md.
				for _, name := range []string{"zeros", "noise", "a greeting"} {
					delete(sayings, name)
				}
			}
			for name, say := range sayings {
				c := strangerTo(t, p.domain, 1)
				_, _ = c.Write(say) // it may be cut off
				// Work goes on while the stranger is there.
				for i := range uint64(100) {
					require.NoError(t, e.PutWord(1, 0, 8, i), name)
					require.NoError(t, e.Quiet(), name)
				}
				_ = c.CloseWrite() // likewise
				require.NoError(t, c.SetReadDeadline(time.Now().Add(200*time.Millisecond)))
				answer, _ := io.ReadAll(io.LimitReader(c, 1<<20)) // it may be kept waiting
				c.Close()
				require.False(t, bytes.Contains(answer, want[8:24]), "%s is told what is in the segment", name)
			}
			old, err := e.FetchAtomic(1, fabric.OpSum, fabric.Uint64, 0, 0, 0)
			require.NoError(t, err)
			require.Equal(t, uint64(99), old)
			got := make([]byte, peerSegment)
			require.NoError(t, e.Get(1, got, 0))
			require.True(t, bytes.Equal(want[8:], got[8:]))
		})
	}
}

// strangerTo connects to the endpoint of a PE of d's job, as whoever can reach its address may.
func strangerTo(t *testing.T, d *Domain, pe int) *net.TCPConn {
	t.Helper()
	b, err := decodeBlob(d.peers.blobs.Blob(pe))
	require.NoError(t, err)
	port := binary.BigEndian.Uint16(b.name[2:]) // of a sockaddr_in
	c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)))
	require.NoError(t, err)
	return c
}
