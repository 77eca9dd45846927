// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// TestConnect_KeepsLittle: the table of addresses is the caller's, and may be shared by the PEs of
// a node; a PE has a fraction of a byte of its own for each that it has not talked to.
func TestConnect_KeepsLittle(t *testing.T) {
	const npes = 50_000
	d, err := New(tested[0]).Open(fabric.Job{NPEs: npes, SegmentSize: small})
	require.NoError(t, err)
	own, err := d.Register(make([]byte, small))
	require.NoError(t, err)
	blobs := make([][]byte, npes)
	for pe := range blobs {
		blobs[pe] = own
	}
	table := fabric.NewTable(blobs)
	before := heap()
	require.NoError(t, d.Connect(table))
	grown := heap() - before
	require.Less(t, grown, int64(npes), "bytes for %d PEs", npes)
	runtime.KeepAlive(table)
	require.NoError(t, d.Close())
}

// heap returns the bytes of Go memory that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
