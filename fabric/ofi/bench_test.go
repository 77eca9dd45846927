// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// The benchmarks run against PE 1 in another process, which waits in the library, or
// sleeps in a system call. tests/peers/ofi_bench.c has the same loops in C.

func BenchmarkTargetWaits(b *testing.B)  { benchmark(b, "wait") }
func BenchmarkTargetSleeps(b *testing.B) { benchmark(b, "serve") }

func benchmark(b *testing.B, role string) {
	b.Helper()
	p := startPeer(b, Options{Provider: "tcp;ofi_rxm"}, role)
	defer p.release(b)
	e := endpoint(b, p.domain)
	word := make([]byte, 8)
	big := make([]byte, 1<<20)
	do := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	do("put8_quiet", func() error {
		if err := e.Put(1, 0, word); err != nil {
			return err
		}
		return e.Quiet()
	})
	do("get8", func() error { return e.Get(1, word, 0) })
	do("fadd", func() error { _, err := e.FetchAtomic(1, fabric.OpSum, fabric.Int64, 0, 1, 0); return err })
	do("cswap", func() error { _, err := e.FetchAtomic(1, fabric.OpCswap, fabric.Int64, 0, 1, 0); return err })
	do("fetch", func() error { _, err := e.FetchAtomic(1, fabric.OpRead, fabric.Int64, 0, 0, 0); return err })
	do("put_signal", func() error { return e.PutSignal(1, 64, word, 8, fabric.OpWrite, 0) })
	do("putnbi8_x1000", func() error {
		for range 1000 {
			if err := e.PutNBI(1, 0, word); err != nil {
				return err
			}
		}
		return e.Quiet()
	})
	do("put_1M", func() error {
		if err := e.Put(1, 0, big); err != nil {
			return err
		}
		return e.Quiet()
	})
	do("get_1M", func() error { return e.Get(1, big, 0) })
	require.NoError(b, e.Quiet())
}

// BenchmarkPingPong is half a round trip of a word, and of data with a signal.
func BenchmarkPingPong(b *testing.B) {
	p := startPeer(b, Options{Provider: "tcp;ofi_rxm"}, "pingpong")
	defer p.release(b)
	e := endpoint(b, p.domain)
	turn := uint64(0)
	for b.Loop() {
		turn++
		if err := e.PutWord(1, 0, 8, turn); err != nil {
			b.Fatal(err)
		}
		if err := p.domain.Wait(waitFor(0, 0, turn)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/half")
	require.NoError(b, e.PutWord(1, 8, 8, 1))
	require.NoError(b, e.PutWord(1, 0, 8, turn+1))
	require.NoError(b, e.Quiet())
}
