// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// add adds to a word by the processor, as direct atomics of near PEs do.
func (w word) add(size uint8, shift uint, v uint64) {
	switch size {
	case 8:
		atomic.AddUint64((*uint64)(w.p), v) // aligned, in the segment
		return
	case 4:
		atomic.AddUint32((*uint32)(w.p), uint32(v)) // likewise
		return
	}
	mask := uint32(1)<<(8*size) - 1
	p := (*uint32)(w.p) // likewise: w is the 32-bit word around the small one
	for {
		old := atomic.LoadUint32(p)
		sum := (old>>shift + uint32(v)) & mask
		if atomic.CompareAndSwapUint32(p, old, old&^(mask<<shift)|sum<<shift) {
			return
		}
	}
}

// TestCPUAtomics_AreCoherentWithTheFabrics: where Caps says so, additions of the target's
// processor and of the fabric to the same words lose nothing, at every width, next to each other.
func TestCPUAtomics_AreCoherentWithTheFabrics(t *testing.T) {
	const far, near = 2000, 40000
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			d := connected(t, provider(o, 2), 2, small)
			require.True(t, d[0].Caps().CPUAtomics)
			var all sync.WaitGroup
			for i, dt := range []fabric.Datatype{fabric.Uint8, fabric.Uint16, fabric.Uint32, fabric.Uint64} {
				off := fabric.Addr(64 * (i + 1))
				if dt.Size() < 4 {
					off += fabric.Addr(dt.Size()) // within its 32-bit word
				}
				around, shift := off&^3, 8*uint(off&3)
				all.Go(func() {
					for range near {
						d[1].word(around).add(dt.Size(), shift, 3)
					}
				})
				all.Go(func() {
					e := endpoint(t, d[0])
					for k := range far {
						var err error
						if k%2 == 0 {
							err = e.Atomic(1, fabric.OpSum, dt, off, 5)
						} else {
							_, err = e.FetchAtomic(1, fabric.OpSum, dt, off, 5, 0)
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
					if err := e.Quiet(); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for i, dt := range []fabric.Datatype{fabric.Uint8, fabric.Uint16, fabric.Uint32, fabric.Uint64} {
				off := fabric.Addr(64 * (i + 1))
				if dt.Size() < 4 {
					off += fabric.Addr(dt.Size())
				}
				want := uint64(3*near+5*far) & (^uint64(0) >> (64 - 8*dt.Size()))
				require.Equal(t, want, d[1].word(off).load(dt.Size()), "%v", dt)
			}
		})
	}
}
