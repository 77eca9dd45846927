// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/fabric"
)

// The root of a relayed broadcast returns before the others have called it, and they find what it
// had then, though it has been a ring's length ahead and has changed its elements since.
func TestRelay_TheRootWaitsForNobody(t *testing.T) {
	const ahead = 6 // see docs/collectives.md
	for _, n := range []int{2, 5} {
		left, once := map[string]chan struct{}{}, sync.Mutex{}
		run(t, n, func(m member) error {
			if !strings.HasPrefix(m.name, "far") {
				return nil // leaders wait for their nodes, and near members have another algorithm
			}
			once.Lock()
			if left[m.id] == nil {
				left[m.id] = make(chan struct{})
			}
			gone := left[m.id]
			once.Unlock()
			src, dst := fabric.Addr(data), fabric.Addr(data+64)
			for lap := range 3 {
				root := (lap + n - 1) % n
				if m.Me() != root && lap == 0 {
					<-gone
				}
				for i := range ahead {
					size := []int{8, 1, 0, 24, 5, 7}[i]
					want := bytes.Repeat([]byte{byte(1 + 10*lap + i)}, size)
					if m.Me() == root {
						copy(m.mem[src:], want)
					}
					if err := collectives.Broadcast(m.Group, dst, src, 1, size, root); err != nil {
						return err
					}
					if got := m.mem[dst:][:size]; !bytes.Equal(got, want) {
						return fmt.Errorf("lap %d, broadcast %d of %d bytes from member %d: %v, want %v", lap, i, size, root, got, want)
					}
				}
				if m.Me() == root && lap == 0 {
					close(gone)
				}
			}
			return m.Sync(collectives.Call{Kind: collectives.KindSyncAll})
		}, allNil)
	}
}
