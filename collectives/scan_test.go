// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import (
	"fmt"
	"testing"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/fabric"
)

// TestScan_ByEveryAlgorithm: each takes the sums of the members before, in place too.
func TestScan_ByEveryAlgorithm(t *testing.T) {
	for _, asked := range []string{"scan=carried", "scan=tree", "scan=shares"} {
		choices, err := collectives.ParseChoices(asked)
		if err != nil {
			t.Fatal(err)
		}
		for _, np := range []int{1, 2, 3, 5, 8} {
			run(t, np, func(m member) error {
				m.Choose(choices)
				for i := range 4 * 5 {
					n, inclusive, inPlace := []int{0, 1, 7, 1024, 1025}[i/4], i&1 != 0, i&2 != 0
					src, dst := fabric.Addr(data), fabric.Addr(data+8*2048)
					if inPlace {
						dst = src
					}
					at := func(pe, k int) uint64 { return uint64(pe+1)*1_000_003 + uint64(k) }
					for k, in := 0, words(m.mem, src, n); k < n; k++ {
						in[k] = at(m.Me(), k)
					}
					a, end, scan := collectives.Array{Dst: dst, Src: src, N: n}, m.Me(), collectives.SumExclusiveScan[uint64]
					if inclusive {
						end, scan = end+1, collectives.SumInclusiveScan[uint64]
					}
					if err := scan(m.Group, a); err != nil {
						return err
					}
					for k, got := range words(m.mem, dst, n) {
						want := uint64(0)
						for pe := range end {
							want += at(pe, k)
						}
						if got != want {
							return fmt.Errorf("%s, element %d of %d (inclusive %t, in place %t): got %d, want %d", asked, k, n, inclusive, inPlace, got, want)
						}
					}
				}
				return nil
			}, allNil)
		}
	}
}
