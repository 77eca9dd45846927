// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/goshmem/goshmem/shmem"
)

// Benchmarks come in pairs: a verb on a lone PE, and the plain Go that it comes
// down to on near memory.

func BenchmarkPut(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int // elements of 8 bytes
	}{{"8B", 1}, {"64B", 8}, {"1KiB", 128}, {"64KiB", 8 << 10}, {"1MiB", 128 << 10}} {
		b.Run(size.name, func(b *testing.B) {
			pe := lonePE(b)
			x, src := alloc[int64](pe, size.n), slices.Repeat([]int64{1}, size.n)
			b.Run("Put", func(b *testing.B) {
				b.SetBytes(int64(8 * size.n))
				for b.Loop() {
					shmem.Put(x, src, 0)
				}
			})
			b.Run("Get", func(b *testing.B) {
				b.SetBytes(int64(8 * size.n))
				for b.Loop() {
					shmem.Get(src, x, 0)
				}
			})
			b.Run("copy", func(b *testing.B) {
				dst := x.Local()
				b.SetBytes(int64(8 * size.n))
				for b.Loop() {
					copy(dst, src)
				}
			})
		})
	}
}

func BenchmarkPutValue(b *testing.B) {
	pe := lonePE(b)
	x := alloc[uint64](pe, 1)
	b.Run("PutValue", func(b *testing.B) {
		for b.Loop() {
			shmem.PutValue(x, 1, 0)
		}
	})
	b.Run("GetValue", func(b *testing.B) {
		for b.Loop() {
			shmem.GetValue(x, 0)
		}
	})
	b.Run("store", func(b *testing.B) {
		p := &x.Local()[0]
		for b.Loop() {
			store(p, 1)
		}
	})
	b.Run("atomic.Store", func(b *testing.B) {
		p := &x.Local()[0]
		for b.Loop() {
			atomic.StoreUint64(p, 1)
		}
	})
}

// store stores by a call, as a verb does.
//
//go:noinline
func store(p *uint64, v uint64) { *p = v }

func BenchmarkAtomics(b *testing.B) {
	pe := lonePE(b)
	x := alloc[uint64](pe, 1)
	p := &x.Local()[0]
	for _, pair := range []struct {
		name      string
		verb, raw func()
	}{
		{"FetchAdd", func() { shmem.AtomicFetchAdd(x, 1, 0) }, func() { atomic.AddUint64(p, 1) }},
		{"Fetch", func() { shmem.AtomicFetch(x, 0) }, func() { atomic.LoadUint64(p) }},
		{"Swap", func() { shmem.AtomicSwap(x, 1, 0) }, func() { atomic.SwapUint64(p, 1) }},
		{"CompareSwap", func() { shmem.AtomicCompareSwap(x, 1, 1, 0) }, func() { atomic.CompareAndSwapUint64(p, 1, 1) }},
		{"Or", func() { shmem.AtomicOr(x, 1, 0) }, func() { atomic.OrUint64(p, 1) }},
		{"Set", func() { shmem.AtomicSet(x, 1, 0) }, func() { atomic.StoreUint64(p, 1) }},
	} {
		b.Run(pair.name+"/verb", func(b *testing.B) {
			for b.Loop() {
				pair.verb()
			}
		})
		b.Run(pair.name+"/sync-atomic", func(b *testing.B) {
			for b.Loop() {
				pair.raw()
			}
		})
	}
}

func BenchmarkPutStrided(b *testing.B) {
	const n = 1024
	pe := lonePE(b)
	x, src := alloc[float64](pe, 4*n), make([]float64, n)
	b.Run("PutStrided", func(b *testing.B) {
		b.SetBytes(8 * n)
		for b.Loop() {
			shmem.PutStrided(x, src, 4, 1, n, 0)
		}
	})
	b.Run("loop", func(b *testing.B) {
		dst := x.Local()
		b.SetBytes(8 * n)
		for b.Loop() {
			for i, v := range src {
				dst[4*i] = v
			}
		}
	})
}

func BenchmarkPutSignal(b *testing.B) {
	pe := lonePE(b)
	x, sig, src := alloc[uint64](pe, 8), alloc[uint64](pe, 1), make([]uint64, 8)
	b.Run("PutSignal", func(b *testing.B) {
		b.SetBytes(64)
		for b.Loop() {
			shmem.PutSignal(x, src, sig, 1, shmem.SigSet, 0)
		}
	})
	b.Run("copy and store", func(b *testing.B) {
		dst, p := x.Local(), &sig.Local()[0]
		b.SetBytes(64)
		for b.Loop() {
			copy(dst, src)
			store(p, 1)
		}
	})
}

func BenchmarkQuiet(b *testing.B) {
	pe := lonePE(b)
	b.Run("Quiet", func(b *testing.B) {
		for b.Loop() {
			pe.Quiet()
		}
	})
	b.Run("atomic.Swap", func(b *testing.B) {
		var word uint64
		for b.Loop() {
			atomic.SwapUint64(&word, 1)
		}
	})
}

func BenchmarkParts(b *testing.B) {
	pe := lonePE(b)
	x := alloc[uint64](pe, 64)
	b.Run("At", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n += x.At(n & 63).Len()
		}
	})
	b.Run("slice", func(b *testing.B) {
		s, n := x.Local(), 0
		for b.Loop() {
			n += len(s[n&63 : n&63+1])
		}
	})
}

func BenchmarkSumReduce(b *testing.B) {
	const n = 16 << 10
	pe := lonePE(b)
	x, y := alloc[float64](pe, n), alloc[float64](pe, n)
	b.Run("SumReduce", func(b *testing.B) {
		b.SetBytes(8 * n)
		for b.Loop() {
			shmem.SumReduce(pe.World(), y, x)
		}
	})
	b.Run("copy", func(b *testing.B) {
		dst, src := y.Local(), x.Local()
		b.SetBytes(8 * n)
		for b.Loop() {
			copy(dst, src)
		}
	})
}
