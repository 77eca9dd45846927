// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"testing"

	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// TestDirectStoresAndFabricAtomics: near PEs, whose data is stored directly while their atomics
// are the fabric's and late. Each program keeps its promise by a call that orders the two, and
// breaks it without, for some seed.
func TestDirectStoresAndFabricAtomics(t *testing.T) {
	if race.Enabled {
		t.Skip("under the race detector nobody stores directly")
	}
	const seeds = 20
	none := func(*shmem.PE) {}
	for _, c := range []struct {
		name  string
		run   func(pe *shmem.PE, order func(*shmem.PE)) error
		order func(*shmem.PE)
	}{
		{"a store does not overtake an atomic", storeAfterAtomic, (*shmem.PE).Fence},
		{"a store does not overtake a signal", storeAfterSignal, (*shmem.PE).Fence},
		{"a loading PE sees an atomic", loadAfterAtomic, (*shmem.PE).Quiet},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := 0
			for seed := range uint64(seeds) {
				try := func(order func(*shmem.PE)) error {
					return first(shmemtest.Try(t, 2, guarded(func(pe *shmem.PE) error { return c.run(pe, order) }, patience),
						shmemtest.Heap(rowHeap), shmemtest.Nodes(2), shmemtest.FabricAtomics(), shmemtest.Delays(seed, 20*realLongest))...)
				}
				if err := try(c.order); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				if try(none) != nil {
					broken++
				}
			}
			if broken == 0 {
				t.Errorf("without its call the program is right for all %d seeds", seeds)
			}
		})
	}
}

func storeAfterAtomic(pe *shmem.PE, order func(*shmem.PE)) error {
	x, flag := alloc[int64](pe, 1), alloc[int64](pe, 1)
	shmem.AtomicAdd(x, 5, right(pe))
	order(pe)
	shmem.PutValue(flag, 1, right(pe))
	shmem.WaitUntil(flag, shmem.CmpEQ, 1)
	return equal("word at the flag", x.Local()[0], 5)
}

func storeAfterSignal(pe *shmem.PE, order func(*shmem.PE)) error {
	x, flag, sig := alloc[int64](pe, 1), alloc[int64](pe, 1), alloc[uint64](pe, 1)
	shmem.PutSignal(x, []int64{5}, sig, 7, shmem.SigSet, right(pe))
	order(pe)
	shmem.PutValue(flag, 1, right(pe))
	shmem.WaitUntil(flag, shmem.CmpEQ, 1)
	return first(equal("data at the flag", x.Local()[0], 5), equal("signal at the flag", sig.Local()[0], 7))
}

// loadAfterAtomic: PE 0 loads from PE 1's memory what its own atomic did there.
func loadAfterAtomic(pe *shmem.PE, order func(*shmem.PE)) error {
	x := alloc[int64](pe, 1)
	shmem.AtomicAdd(x, 5, right(pe))
	order(pe)
	return equal("word", shmem.Ptr(x, right(pe))[0], 5)
}
