// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// TestReadBack_OncePerPEWrittenTo: whatever the operation was, and none that was refused.
func TestReadBack_OncePerPEWrittenTo(t *testing.T) {
	d := connected(t, provider(Options{ReadBack: true}, 2), 2, small)
	e := endpoint(t, d[0])
	b := make([]byte, 64)
	for name, op := range map[string]func(pe int) error{
		"put":       func(pe int) error { return e.Put(pe, 0, b) },
		"PutNBI":    func(pe int) error { return e.PutNBI(pe, 0, b) },
		"PutWord":   func(pe int) error { return e.PutWord(pe, 0, 8, 1) },
		"PutSignal": func(pe int) error { return e.PutSignal(pe, 0, b, 64, fabric.OpWrite, 1) },
		"PutStrided": func(pe int) error {
			return e.PutStrided(pe, 0, b, fabric.Strides{Block: 8, Blocks: 4, Dst: 32, Src: 16})
		},
		"PutV": func(pe int) error { return e.PutV(pe, []fabric.Part{{Off: 8, Data: b}}) },
	} {
		require.Error(t, op(2), name)
		require.NoError(t, e.Quiet(), name)
		require.NoError(t, op(1), name)
		before := d[0].Stats().Reads
		require.NoError(t, e.Quiet(), name)
		require.NoError(t, e.Quiet(), name)
		require.Equal(t, before+1, d[0].Stats().Reads, name)
	}
}

// TestReadBack_ForgetsNoneAfterAnError: a Quiet that fails leaves the others to the next.
func TestReadBack_ForgetsNoneAfterAnError(t *testing.T) {
	d := connected(t, provider(Options{ReadBack: true}, 2), 2, small)
	e := endpoint(t, d[0])
	for range 10 { // PEs come in any order
		before := d[0].Stats().Reads
		e.wrote(0)
		e.wrote(1)
		e.wrote(2) // there is no such PE
		require.ErrorContains(t, e.Quiet(), "no PE 2")
		require.ErrorContains(t, e.Quiet(), "no PE 2")
		delete(e.written.pes, 2)
		require.NoError(t, e.Quiet())
		require.Equal(t, before+2, d[0].Stats().Reads)
	}
}

// TestReadBack_SecondQuietWaits: a Quiet that finds another one reading does not return
// before that has read.
func TestReadBack_SecondQuietWaits(t *testing.T) {
	p := startPeer(t, Options{Provider: "tcp;ofi_rxm", ReadBack: true}, "serve")
	e := endpoint(t, p.domain)
	require.NoError(t, e.Get(1, make([]byte, 8), 0))
	p.stop(t)
	e.wrote(1)
	ended := make(chan error, 2)
	go func() { ended <- e.Quiet() }()
	for p.domain.waitersParked() < 1 {
		require.NoError(t, e.Progress())
	}
	go func() { ended <- e.Quiet() }()
	for range 1000 {
		runtime.Gosched()
		require.NoError(t, e.Progress())
	}
	require.Empty(t, ended, "a Quiet returned while PE 1 was stopped")
	p.resume(t)
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
}
