// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/symheap"
)

const teamWorld = 8

// teams are members of a world of teamWorld PEs.
var teams = map[string]symheap.Members{
	"backwards":    symheap.All(teamWorld).Strided(7, -1, 8),
	"every third":  symheap.All(teamWorld).Strided(1, 3, 3),
	"odd, down":    symheap.All(teamWorld).Strided(7, -2, 4),
	"every fourth": symheap.All(teamWorld).Strided(0, 2, 4).Strided(0, 2, 2),
	"alone":        symheap.All(teamWorld).Strided(5, 0, 1),
	"in no order":  symheap.Listed([]int{6, 0, 1, 2, 5}),
}

func TestTeam_CollectivesStayAmongItsMembers(t *testing.T) {
	for name, team := range teams {
		t.Run(name, func(t *testing.T) {
			runTeam(t, teamWorld, team, func(m member) error {
				n, me := m.NPEs(), m.Me()
				src, dst := fabric.Addr(data), fabric.Addr(data+4096) // a new place for each result
				put := func(v byte) {
					for i := range n {
						m.mem[int(src)+i] = v + byte(i)
					}
				}
				check := func(what string, want func(i int) byte) error {
					defer func() { dst += 64 }()
					for i := range n {
						if got := m.mem[int(dst)+i]; got != want(i) {
							return fmt.Errorf("%s, element %d of %d: got %d, want %d", what, i, n, got, want(i))
						}
					}
					return nil
				}
				for root := range n {
					put(byte(10 * me))
					if err := collectives.Broadcast(m.Group, dst, src, 1, n, root); err != nil {
						return err
					}
					if err := check("broadcast", func(i int) byte { return byte(10*root + i) }); err != nil {
						return err
					}
				}
				if err := collectives.FCollect(m.Group, dst, src, 1, 1); err != nil {
					return err
				}
				if err := check("collect", func(i int) byte { return byte(10 * i) }); err != nil {
					return err
				}
				if err := collectives.AllToAll(m.Group, dst, src, 1, 1); err != nil {
					return err
				}
				if err := check("all to all", func(i int) byte { return byte(10*i + me) }); err != nil {
					return err
				}
				if err := collectives.SumReduce[uint8](m.Group, collectives.Array{Dst: dst, Src: src, N: n}); err != nil {
					return err
				}
				if err := check("sum", func(i int) byte { return byte(10*n*(n-1)/2 + n*i) }); err != nil {
					return err
				}
				failed, err := m.Agree(collectives.Call{Kind: collectives.KindAlloc}, me == n-1)
				if err == nil && !failed {
					err = errors.New("the last member's failure is not the others'")
				}
				return err
			}, allNil)
		})
	}
}

func TestTeam_MismatchNamesPEsOfTheWorld(t *testing.T) {
	for name, team := range teams {
		if team.NPEs() == 1 {
			continue
		}
		odd := team.World(1)
		t.Run(name, func(t *testing.T) {
			runTeam(t, teamWorld, team, func(m member) error {
				c := collectives.Call{Kind: collectives.KindAlloc, N: 64}
				if m.Me() == 1 {
					c.N = 4096
				}
				return m.Sync(c)
			}, func(t *testing.T, errs []error) {
				t.Helper()
				for i, err := range errs {
					var mismatch *collectives.MismatchError
					switch in := team.Index(i) >= 0; {
					case !in && err != nil:
						t.Errorf("PE %d, who is no member, got %v", i, err)
					case in && (!errors.As(err, &mismatch) || !strings.Contains(err.Error(), fmt.Sprintf("PE %d is in", odd)) || mismatch.PE != i):
						t.Errorf("PE %d got %v, want a mismatch with PE %d", i, err, odd)
					}
				}
			})
		})
	}
}
