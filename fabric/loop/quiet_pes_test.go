// SPDX-License-Identifier: BSD-3-Clause

package loop_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
)

// TestQuietPEs_WaitsForNoOther: operations to PE 1 are never delivered.
func TestQuietPEs_WaitsForNoOther(t *testing.T) {
	w, err := loop.New(3, loop.Options{
		Seed: 5, MaxDelay: time.Millisecond,
		Faults: loop.Faults{Hold: func(e loop.Event) bool { return e.Target == 1 }},
	})
	require.NoError(t, err)
	ds := make([]fabric.Domain, 3)
	for i := range ds {
		ds[i], err = w.Open(fabric.Job{PE: i, NPEs: 3})
		require.NoError(t, err)
	}
	bare, err := ds[0].Endpoint()
	require.NoError(t, err)
	ep := fabric.Extend(bare)
	got := make([]byte, 8)
	for i := range byte(20) {
		require.NoError(t, ep.Put(1, 0, []byte{i}))
		require.NoError(t, ep.PutWord(2, 64, 8, uint64(i)))
		require.NoError(t, ep.QuietPEs([]int{2, 0}))
		require.NoError(t, ep.GetNBI(2, got, 64))
		require.NoError(t, ep.QuietPEs([]int{2}))
		require.Equal(t, []byte{i, 0, 0, 0, 0, 0, 0, 0}, got)
	}
	ended := errors.New("ended")
	quiet := make(chan error)
	go func() { quiet <- ep.Quiet() }()
	ds[2].Abort(ended)
	require.ErrorIs(t, <-quiet, ended)
	w.Close()
}
