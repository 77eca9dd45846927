// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// TestFlood_GoesOutTogether: of many puts that nobody waits for the first are posted by
// themselves, most of the others are not, and all of them arrive.
func TestFlood_GoesOutTogether(t *testing.T) {
	const n, rounds = 10000, 5
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			e := endpoint(t, p.domain)
			want := make([]byte, 8*n)
			for round := range rounds {
				fill(want, round)
				for i := range n {
					require.NoError(t, e.PutNBI(1, fabric.Addr(8*i), want[8*i:8*i+8]))
				}
				require.NoError(t, e.Quiet())
				got := make([]byte, len(want))
				require.NoError(t, e.Get(1, got, 0))
				require.True(t, bytes.Equal(want, got))
			}
			s := p.domain.Stats()
			require.EqualValues(t, rounds*n, s.Writes+s.Records)
			require.GreaterOrEqual(t, s.Writes, uint64(floodsAt))
			require.Greater(t, s.Records, uint64(rounds*n/2))
			require.Less(t, 10*s.Batches, s.Records)
		})
	}
}

// TestFlood_LeavesOthersAlone: what is long, what is no non-blocking put, and what waits for an
// earlier one in between is posted by itself; so is everything where the target's processor
// has no part in a put.
func TestFlood_LeavesOthersAlone(t *testing.T) {
	const n = 1000
	p := startPeer(t, tested[0], "serve")
	e := endpoint(t, p.domain)
	b := make([]byte, maxSmall+1)
	for range n {
		require.NoError(t, e.PutNBI(1, 0, b))
	}
	require.NoError(t, e.Quiet())
	for range n {
		require.NoError(t, e.Put(1, 0, b[:8]))
		require.NoError(t, e.Atomic(1, fabric.OpSum, fabric.Uint64, 8, 1))
	}
	require.NoError(t, e.Quiet())
	for i := range n {
		require.NoError(t, e.PutNBI(1, 0, b[:8]))
		if i%floodsAt == floodsAt-1 {
			require.NoError(t, e.Quiet())
		}
	}
	require.NoError(t, e.Quiet())
	s := p.domain.Stats()
	require.EqualValues(t, 3*n, s.Writes)
	require.EqualValues(t, n, s.Atomics)
	require.Zero(t, s.Records)

	for _, v := range verdicts {
		require.Equal(t, v.software, v.name == "tcp;ofi_rxm" || v.name == "sockets", v.name)
	}
}
