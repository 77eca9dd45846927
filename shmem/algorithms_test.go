// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
)

// attachAll attaches a PE for each of the algorithms asked for.
func attachAll(t *testing.T, asked ...string) []error {
	t.Helper()
	np := len(asked)
	world, err := loop.New(np, loop.Options{SegmentSize: segment.SizeForHeap(1 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	errs := make([]error, np)
	var pes sync.WaitGroup
	for i := range np {
		d, err := world.Open(fabric.Job{PE: i, NPEs: np})
		if err != nil {
			t.Fatal(err)
		}
		pes.Go(func() {
			pe, err := shmem.Attach(shmem.Host{Domain: d, Fabric: "loop", PE: i, NPEs: np, Algorithms: asked[i]})
			if err == nil {
				shmem.SumReduce(pe.World(), alloc[int64](pe, 1), alloc[int64](pe, 1))
				err = pe.Detach()
			}
			errs[i] = err
		})
	}
	pes.Wait()
	return errs
}

func TestAttach_ComparesTheAlgorithmsAskedFor(t *testing.T) {
	const shares = "reduce=shares,sync=star"
	for _, err := range attachAll(t, shares, shares, shares) {
		if err != nil {
			t.Error(err)
		}
	}
	for pe, err := range attachAll(t, shares, "", shares) {
		if err == nil || !strings.Contains(err.Error(), "Init") {
			t.Errorf("PE %d: %v, want a mismatch of Init", pe, err)
		}
	}
	if err := errors.Join(attachAll(t, "reduce=flags")...); err == nil || !strings.Contains(err.Error(), "SHMEM_COLLECTIVES: \"reduce=flags\": algorithms of reduce are carried, leaders, doubling, tree, halving, shares") {
		t.Errorf("an unknown algorithm: %v", err)
	}
}
