// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// TestMany_CostLittle: 64 PEs reach each other as they want, and each holds few
// descriptors: its own, and one for each PE that it has talked to.
func TestMany_CostLittle(t *testing.T) {
	const pes, own = 64, 30
	before := descriptors(t)
	d := connected(t, provider(Options{}, pes), pes, small)
	opened := descriptors(t)
	if n := (opened - before) / pes; n > own {
		t.Errorf("%d descriptors a PE before any talks, at most %d are expected", n, own)
	}
	var all sync.WaitGroup
	for pe := range d {
		all.Go(func() {
			e, err := d[pe].Endpoint()
			for _, to := range []int{(pe + 1) % pes, (pe + pes/2) % pes, 0} {
				if err == nil {
					err = e.Atomic(to, fabric.OpSum, fabric.Uint64, 0, 1)
				}
			}
			if err == nil {
				err = e.Quiet()
			}
			if err != nil {
				t.Errorf("PE %d: %v", pe, err)
			}
		})
	}
	all.Wait()
	for pe := range d {
		want := uint64(2)
		if pe == 0 {
			want += pes
		}
		require.Equal(t, want, d[pe].word(0).load(8), "PE %d", pe)
	}
	// Each pair that talks has a connection, with a descriptor at both ends.
	if n := descriptors(t) - opened; n > 2*3*pes {
		t.Errorf("%d descriptors for %d connections", n, 3*pes)
	}
}

// descriptors returns how many descriptors this process holds.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}
