// SPDX-License-Identifier: BSD-3-Clause

package netns

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDelay_IsAddedToBothDirections(t *testing.T) {
	t.Parallel()
	const delay = 40 * time.Millisecond
	hosts := New(t, 3).Hosts
	a, b, c := hosts[0], hosts[1], hosts[2]
	require.True(t, a.connects(t, b)) // and find each other's hardware addresses
	a.Delay(t, delay)
	begin := time.Now()
	require.True(t, a.connects(t, b))
	require.GreaterOrEqual(t, time.Since(begin), 2*delay, "from the delayed host")
	require.True(t, b.connects(t, c))
}

// TestDelay_KeepsWhatIsSent: frames that are larger than the interface takes, as hosts
// without hardware make them, arrive whole.
func TestDelay_KeepsWhatIsSent(t *testing.T) {
	t.Parallel()
	hosts := New(t, 2)
	hosts.Hosts[0].Delay(t, time.Millisecond)
	var listener net.Listener
	var near net.Conn
	require.NoError(t, within(hosts.Hosts[1].Name, func() (err error) {
		listener, err = net.Listen("tcp", netip.AddrPortFrom(hosts.Hosts[1].Addr, 0).String())
		return err
	}))
	defer listener.Close()
	require.NoError(t, within(hosts.Hosts[0].Name, func() (err error) {
		near, err = net.Dial("tcp", listener.Addr().String())
		return err
	}))
	far, err := listener.Accept()
	require.NoError(t, err)
	defer far.Close()
	sent := make([]byte, 1<<20)
	for i := range sent {
		sent[i] = byte(i * i >> 8)
	}
	go func() {
		_, _ = near.Write(sent) // what is lost is missed below
		near.Close()
	}()
	require.NoError(t, far.SetReadDeadline(time.Now().Add(30*time.Second)))
	got, err := io.ReadAll(far)
	require.NoError(t, err)
	require.True(t, bytes.Equal(sent, got))
}
