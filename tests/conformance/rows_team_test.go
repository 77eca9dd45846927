// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

// split is SplitStrided, and ends the row if that fails.
func split(t *shmem.Team, start, stride, size int) *shmem.Team {
	s, err := t.SplitStrided(start, stride, size)
	if err != nil {
		panic(err)
	}
	return s
}

// isTeam returns an error unless team has the world's PEs in want, in this order, and
// the caller is one, or is none and has nil. The members tell each other who they are,
// by x, which nobody else uses meanwhile.
func isTeam(pe *shmem.PE, what string, x shmem.Sym[int], team *shmem.Team, want ...int) error {
	me := slices.Index(want, pe.MyPE())
	if me < 0 {
		return equal(what+": an outsider has no team", team == nil, true)
	}
	ctx, err := team.NewContext()
	if err != nil {
		return err
	}
	defer ctx.Close()
	var numbers []int
	for i := range team.NPEs() {
		numbers = append(numbers, team.TranslatePE(i, pe.World()))
		shmem.PutValue(x.On(ctx).At(team.MyPE()), pe.MyPE(), i)
	}
	ctx.Quiet()
	team.Sync()
	met := slices.Clone(x.Local()[:team.NPEs()])
	team.Sync()
	return first(
		equal(what+": own number", team.MyPE(), me),
		equal(what+": the world's numbers", numbers, want),
		equal(what+": who is met there", met, want),
	)
}

// strided returns start, start+stride, … n numbers.
func strided(start, stride, n int) []int {
	var s []int
	for i := range n {
		s = append(s, start+i*stride)
	}
	return s
}

func teamRows() []row {
	return []row{
		{
			sec: "9.1.10", name: "team_ptr: is ptr of the team's PE",
			run: func(pe *shmem.PE) error {
				x, n := alloc[int64](pe, 3), pe.NPEs()
				back := split(pe.World(), n-1, -1, n)
				ctx, err := back.NewContext()
				if err != nil {
					return err
				}
				x.Local()[0] = int64(pe.MyPE())
				pe.BarrierAll()
				err = all(n, func(i int) error {
					got, want := shmem.Ptr(x.On(ctx), i), shmem.Ptr(x, n-1-i)
					if err := equal("reachable", got != nil, want != nil); err != nil || got == nil {
						return err
					}
					return first(equal("same memory", &got[0] == &want[0], true), equal("length", len(got), 3))
				})
				pe.BarrierAll()
				back.Destroy()
				return err
			},
		},
		{
			sec: "9.1.10", name: "team_ptr: reaches every PE of the shared team, which has one number for all",
			run: func(pe *shmem.PE) error {
				x, shared := alloc[int](pe, pe.NPEs()), pe.Shared()
				first0 := shared.TranslatePE(0, pe.World())
				if err := isTeam(pe, "shared", x, shared, strided(first0, 1, shared.NPEs())...); err != nil {
					return err
				}
				return all(shared.NPEs(), func(i int) error {
					return equal("reachable", shmem.Ptr(x, shared.TranslatePE(i, pe.World())) != nil, true)
				})
			},
		},
		{
			sec: "9.4.1", name: "team_my_pe: in the world it is my_pe; of no team it is -1",
			run: func(pe *shmem.PE) error {
				var none *shmem.Team
				return first(equal("number", pe.World().MyPE(), pe.MyPE()), equal("of no team", none.MyPE(), -1))
			},
		},
		{
			sec: "9.4.2", name: "team_n_pes: in the world it is n_pes; of no team it is -1",
			run: func(pe *shmem.PE) error {
				var none *shmem.Team
				return first(equal("PEs", pe.World().NPEs(), pe.NPEs()), equal("of no team", none.NPEs(), -1))
			},
		},
		{
			sec: "9.4.3", name: "team_config_t: more contexts than it says may be made",
			run: func(pe *shmem.PE) error {
				for _, n := range []int{0, 1} {
					team, err := pe.World().SplitStrided(0, 1, pe.NPEs(), shmem.TeamConfig{Contexts: n})
					if err != nil {
						return err
					}
					for range n + 2 {
						if _, err := team.NewContext(); err != nil {
							return err
						}
					}
					team.Destroy()
				}
				return nil
			},
		},
		{
			sec: "9.4.4", name: "team_get_config: is what the split was told; zero by default, nothing of no team",
			run: func(pe *shmem.PE) error {
				team, err := pe.World().SplitStrided(0, 1, pe.NPEs(), shmem.TeamConfig{Contexts: 7})
				if err != nil {
					return err
				}
				c, ok := team.Config()
				d, known := pe.World().Config()
				_, of := (*shmem.Team)(nil).Config()
				team.Destroy()
				return first(equal("contexts", c.Contexts, 7), equal("world's", d.Contexts, 0),
					equal("known", [3]bool{ok, known, of}, [3]bool{true, true, false}))
			},
		},
		{
			sec: "9.4.5", name: "team_translate_pe: from team to team, -1 for who is not in both",
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				even, back := split(pe.World(), 0, 2, (n+1)/2), split(pe.World(), n-1, -1, n)
				err := all(n+1, func(i int) error {
					i-- // -1 too
					want := -1
					if i >= 0 && (n-1-i)%2 == 0 {
						want = (n - 1 - i) / 2
					}
					if even == nil {
						want = -1
					}
					return first(
						equal("to the even PEs", back.TranslatePE(i, even), want),
						equal("to itself", back.TranslatePE(i, back), max(i, -1)),
						equal("to no team", back.TranslatePE(i, nil), -1),
						equal("from no team", (*shmem.Team)(nil).TranslatePE(i, back), -1),
					)
				})
				back.Destroy()
				even.Destroy()
				return err
			},
		},
		{
			sec: "9.4.6", name: "team_split_strided: the PEs named, in their order, forwards and backwards",
			faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				x := alloc[int](pe, n)
				for _, c := range [][3]int{{0, 1, n}, {n - 1, -1, n}, {0, 2, (n + 1) / 2}, {n / 2, 0, 1}, {n - 1, -2, (n + 1) / 2}, {n / 3, 1, n - n/3}} {
					team := split(pe.World(), c[0], c[1], c[2])
					if err := isTeam(pe, "strided", x, team, strided(c[0], c[1], c[2])...); err != nil {
						return err
					}
					team.Destroy()
				}
				return nil
			},
		},
		{
			sec: "9.4.6", name: "team_split_strided: start and stride are the parent's, whose outsiders take no part",
			np: 3, faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				x, y, n := alloc[int](pe, pe.NPEs()), alloc[int](pe, pe.NPEs()), (pe.NPEs()+1)/2
				even := split(pe.World(), 0, 2, n)
				if even == nil {
					return nil
				}
				quarter, back := split(even, 0, 2, (n+1)/2), split(even, n-1, -1, n)
				err := first(
					isTeam(pe, "every other of every other", x, quarter, strided(0, 4, (n+1)/2)...),
					isTeam(pe, "every other, backwards", y, back, strided(2*(n-1), -2, n)...),
				)
				if err != nil {
					return err
				}
				back.Destroy()
				quarter.Destroy()
				even.Destroy()
				return nil
			},
		},
		{
			sec: "9.4.6", name: "team_split_strided: what names PEs outside is an error on all, and leaves all as it was",
			run: func(pe *shmem.PE) error {
				n, w := pe.NPEs(), pe.World()
				for _, c := range [][3]int{{-1, 1, 1}, {n, 1, 1}, {0, 1, n + 1}, {n - 1, 1, 2}, {0, -1, 2}, {0, 0, 2}, {0, 1, 0}, {0, 1, -1}, {0, n, 2}, {0, 1 << 62, 3}, {0, -1 << 63, 2}} {
					if team, err := w.SplitStrided(c[0], c[1], c[2]); err == nil || team != nil {
						return broken("SplitStrided(%d, %d, %d) of %d PEs gave %v, %v", c[0], c[1], c[2], n, team, err)
					}
				}
				if team, err := (*shmem.Team)(nil).SplitStrided(0, 1, 1); err == nil || team != nil {
					return broken("a part of no team is %v, %v", team, err)
				}
				w.Sync()
				return nil
			},
		},
		{
			sec: "9.4.6", name: "team_split_strided: too many teams are an error on all; one fewer makes room for another",
			run: func(pe *shmem.PE) error {
				var teams []*shmem.Team
				for {
					team, err := pe.World().SplitStrided(0, 1, pe.NPEs())
					if err != nil {
						break
					}
					teams = append(teams, team)
				}
				if len(teams) < 50 {
					return broken("there are only %d teams", len(teams))
				}
				teams[0].Destroy()
				teams[0] = split(pe.World(), 0, 1, pe.NPEs())
				for _, team := range teams {
					team.Sync()
					team.Destroy()
				}
				return nil
			},
		},
		{
			sec: "9.4.6", name: "split by color and key, beyond the specification: by key, then by number",
			faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				n, me := pe.NPEs(), pe.MyPE()
				x := alloc[int](pe, n)
				// Three colors and none; in each, keys that bring the highest first, but for equal ones.
				color, key := me%4-1, -(me / 5)
				var want []int
				for i := range n {
					if i%4-1 == color {
						want = append(want, i)
					}
				}
				slices.SortStableFunc(want, func(a, b int) int { return b/5 - a/5 })
				team, err := pe.World().SplitColor(color, key)
				if err != nil {
					return err
				}
				if color < 0 {
					return equal("no color, no team", team == nil, true)
				}
				if err := isTeam(pe, "color", x, team, want...); err != nil {
					return err
				}
				part := split(team, team.NPEs()-1, -1, team.NPEs())
				slices.Reverse(want)
				if err := isTeam(pe, "color, backwards", x, part, want...); err != nil {
					return err
				}
				part.Destroy()
				team.Destroy()
				return nil
			},
		},
		{
			sec: "9.4.7", name: "team_split_2d: x is pe mod xrange, y is pe / xrange, also of a strided parent",
			faults: []fault{lostWords},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				x, y := alloc[int](pe, n), alloc[int](pe, n)
				for _, parent := range []*shmem.Team{pe.World(), split(pe.World(), n-1, -1, n)} {
					at := func(i int) int { return parent.TranslatePE(i, pe.World()) }
					for _, xrange := range []int{1, 2, 3, n, n + 5} {
						xt, yt, err := parent.Split2D(xrange)
						if err != nil {
							return err
						}
						xrange = min(xrange, n)
						px, py := parent.MyPE()%xrange, parent.MyPE()/xrange
						var row, column []int
						for i := range n {
							if i/xrange == py {
								row = append(row, at(i))
							}
							if i%xrange == px {
								column = append(column, at(i))
							}
						}
						if err := first(isTeam(pe, "x", x, xt, row...), isTeam(pe, "y", y, yt, column...)); err != nil {
							return err
						}
						xt.Destroy()
						yt.Destroy()
						parent.Sync()
					}
					if parent != pe.World() {
						parent.Destroy()
					}
				}
				return nil
			},
		},
		{
			sec: "9.4.7", name: "team_split_2d: rows of nobody and no parent are errors on all, with no teams",
			run: func(pe *shmem.PE) error {
				for _, parent := range []*shmem.Team{pe.World(), nil} {
					for _, xrange := range []int{0, -3} {
						if x, y, err := parent.Split2D(xrange); err == nil || x != nil || y != nil {
							return broken("Split2D(%d) gave %v, %v, %v", xrange, x, y, err)
						}
					}
				}
				pe.World().Sync()
				return nil
			},
		},
		{
			sec: "9.4.8", name: "team_destroy: completes and closes the team's contexts, and no others",
			faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				x, y := alloc[int](pe, 8*4), alloc[int](pe, 8*4)
				other, err := pe.NewContext()
				if err != nil {
					return err
				}
				for i := range 4 {
					team := split(pe.World(), 0, 1, pe.NPEs())
					ctx, err := team.NewContext()
					if err != nil {
						return err
					}
					part := x.Slice(8*i, 8*i+8)
					shmem.PutNBI(part.On(ctx), count(8*i, 8), right(pe))
					team.Destroy()
					if err := first(
						equal("put on the team's context", part.Local(), count(8*i, 8)),
						refused("a put on it", func() { shmem.Put(x.On(ctx), []int{1}, 0) }),
						refused("its quiet", ctx.Quiet),
						refused("the team's sync", team.Sync),
						refused("the team's end", team.Destroy),
					); err != nil {
						return err
					}
					part = y.Slice(8*i, 8*i+8)
					shmem.Put(part.On(other), count(8*i, 8), right(pe))
					other.Quiet()
					pe.BarrierAll()
					if err := equal("put on the world's context", part.Local(), count(8*i, 8)); err != nil {
						return err
					}
				}
				other.Close()
				return nil
			},
		},
		{
			sec: "9.4.8", name: "team_destroy: no team is none to destroy, and predefined ones stay",
			run: func(pe *shmem.PE) error {
				(*shmem.Team)(nil).Destroy()
				return first(refused("the world's end", pe.World().Destroy), refused("the shared team's end", pe.Shared().Destroy))
			},
		},
		{
			sec: "9.4.8", name: "team_destroy: its place is another team's at once, also one of other PEs",
			np: 3, faults: []fault{lostSync},
			run: func(pe *shmem.PE) error {
				me, n := pe.MyPE(), pe.NPEs()
				pair := split(pe.World(), 0, 1, 2)
				rest := split(pe.World(), 1, 1, n-1)
				for i := range 20 {
					if rest != nil {
						split(rest, 0, 1, n-1).Destroy()
					}
					if pair != nil {
						team := split(pair, i%2, 1-i%2*2, 2)
						team.Sync()
						team.Destroy()
					}
				}
				if me < 2 {
					pair.Destroy()
				}
				rest.Destroy()
				return nil
			},
		},
		{
			sec: "9.10.2", name: "barrier of a part of the PEs: quiet and the team's sync, while others do something else",
			faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				x := alloc[int](pe, 8)
				xt, yt, err := pe.World().Split2D(2)
				if err != nil {
					return err
				}
				ctx, err := xt.NewContext()
				if err != nil {
					return err
				}
				for i := range 3 + pe.MyPE()/2%3 { // not as often in every row
					shmem.Put(x.On(ctx), count(100*i+xt.MyPE(), 8), (xt.MyPE()+1)%xt.NPEs())
					ctx.Quiet()
					xt.Sync()
					if err := equal("the row's neighbour put", x.Local(), count(100*i+(xt.MyPE()+xt.NPEs()-1)%xt.NPEs(), 8)); err != nil {
						return err
					}
					xt.Sync()
				}
				xt.Destroy()
				yt.Destroy()
				return equal("PEs", pe.World().NPEs(), n)
			},
		},
		{
			sec: "9.10.3", name: "sync: of a part of the PEs, which others do not delay",
			np: 2, faults: []fault{lostGets},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				back := split(pe.World(), n-1, -1, n-1)
				if back != nil {
					for range 5 {
						back.Sync()
					}
				}
				err := stored(pe, pe.World().Sync)
				back.Destroy()
				return err
			},
		},
	}
}
