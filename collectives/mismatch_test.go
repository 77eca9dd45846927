// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/goshmem/goshmem/collectives"
)

// TestMismatch_IsNoticedByWhoeverWaits: the calls do not wait for the same words, nor for
// the same members. Whoever may leave the first call alone is told in the next.
func TestMismatch_IsNoticedByWhoeverWaits(t *testing.T) {
	sync := func(m member) error { return m.Sync(collectives.Call{Kind: collectives.KindSyncAll}) }
	small := func(m member) error { return collectives.Broadcast(m.Group, data+8192, data, 1, 8, 0) }
	large := func(m member) error { return collectives.Broadcast(m.Group, data+8192, data, 1, 4096, 0) }
	// The last member takes itself for the root, or the first: who does not waits for one who waits, too.
	other := func(m member) error { return collectives.Broadcast(m.Group, data+8192, data, 1, 8, 2) }
	several := func(m member) error {
		for range 4 {
			if err := small(m); err != nil {
				return err
			}
		}
		return nil
	}
	leave := func(m member) error { return m.Leave(collectives.Call{Kind: collectives.KindDestroy}) }
	for _, tt := range []struct {
		name    string
		one, of func(m member) error
	}{
		{"sync, small broadcast", sync, small},
		{"small broadcast, sync", small, sync},
		{"sync, large broadcast", sync, large},
		{"large broadcast, sync", large, sync},
		{"small and large broadcast", small, large},
		{"large and small broadcast", large, small},
		{"small broadcasts from two roots", small, other},
		{"several small broadcasts, sync", several, sync},
		{"sync, several small broadcasts", sync, several},
		{"one and several small broadcasts", small, several},
		{"several small broadcasts and one", several, small},
		{"leave, sync", leave, sync},
		{"sync, leave", sync, leave},
		{"leave, small broadcast", leave, small},
		{"small broadcast, leave", small, leave},
		{"leave, large broadcast", leave, large},
		{"large broadcast, leave", large, leave},
	} {
		for odd := range 3 {
			t.Run(fmt.Sprintf("%s/PE %d", tt.name, odd), func(t *testing.T) {
				run(t, 3, func(m member) error {
					call := tt.of
					if m.Me() == odd {
						call = tt.one
					}
					if err := call(m); err != nil {
						return err
					}
					return sync(m)
				}, func(t *testing.T, errs []error) {
					t.Helper()
					for i, err := range errs {
						var mismatch *collectives.MismatchError
						if !errors.As(err, &mismatch) {
							t.Errorf("PE %d got %v, want a mismatch", i, err)
						}
					}
				})
			})
		}
	}
}
