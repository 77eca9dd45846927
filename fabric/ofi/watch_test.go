// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// TestWatch_EndsTheJob: a stranger's message keeps the provider from serving others, and the PE to which
// that happens says so.
func TestWatch_EndsTheJob(t *testing.T) {
	for name, say := range map[string][300]byte{
		// sock_msg_hdr in the provider's sock.h: version, operation, and from byte 16 on the message's length.
		"an unknown version":        {0: 99, 23: 24},
		"longer than there is room": {0: 2, 1: 1, 18: 1},
		"an odd greeting":           {0: 2, 1: 12, 23: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := provider(Options{Provider: "sockets"}, 2)
			p.lab.watch = 50 * time.Millisecond
			d := connected(t, p, 2, small)
			e, err := d[1].Endpoint()
			require.NoError(t, err)
			require.NoError(t, e.PutWord(0, 0, 8, 1))
			require.NoError(t, e.Quiet())
			time.Sleep(2 * watchPatience * p.lab.watch)
			require.NoError(t, d[0].Ended(), "nobody has disturbed it")

			c := strangerTo(t, d[1], 0)
			defer c.Close()
			_, err = c.Write(say[:])
			require.NoError(t, err)

			stuck := make(chan error)
			go func() {
				err := e.PutWord(0, 0, 8, 2)
				for err == nil {
					err = e.Quiet()
				}
				stuck <- err
			}()
			require.Eventually(t, func() bool { return d[0].Ended() != nil }, time.Minute, 10*time.Millisecond)
			require.ErrorContains(t, d[0].Ended(), "provider sockets has answered PE 0's own calls for 750ms no more: a stranger who connected to")
			require.ErrorContains(t, d[0].Wait(fabric.Cond{PE: 0, Off: 8, Type: fabric.Uint64, Value: 1}), "sockets")
			d[1].Abort(d[0].Ended()) // which the launcher does
			require.Error(t, <-stuck)
		})
	}
}
