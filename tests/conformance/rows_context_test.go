// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"github.com/goshmem/goshmem/shmem"
)

// newContext is NewContext, and ends the row if that fails.
func newContext(t *shmem.Team, opts ...shmem.ContextOption) *shmem.Context {
	ctx, err := t.NewContext(opts...)
	if err != nil {
		panic(err)
	}
	return ctx
}

func contextRows() []row {
	return []row{
		{
			sec: "9.5.1", name: "ctx_create: every option gives a context that moves, orders and completes",
			faults: []fault{quietIgnored, lostPuts, lostAtomics},
			run: func(pe *shmem.PE) error {
				x, a := alloc[int](pe, 8), alloc[uint64](pe, 1)
				for i, opts := range [][]shmem.ContextOption{nil, {shmem.Private}, {shmem.Serialized}, {shmem.NoStore}, {shmem.Private, shmem.NoStore}, {shmem.Private | shmem.NoStore}} {
					ctx, err := pe.NewContext(opts...)
					if err != nil {
						return err
					}
					shmem.PutNBI(x.On(ctx), count(10*i, 8), right(pe))
					shmem.AtomicAdd(a.On(ctx), 1, right(pe))
					ctx.Quiet()
					pe.SyncAll()
					if err := first(equal("put", x.Local(), count(10*i, 8)), equal("sum", shmem.AtomicFetch(a, pe.MyPE()), uint64(i+1))); err != nil {
						return err
					}
					pe.SyncAll()
					ctx.Close()
				}
				return refused("an unknown option", func() { _, _ = pe.NewContext(1 << 9) })
			},
		},
		{
			sec: "9.5.1", name: "ctx_create: its quiet completes what is its own, and barrier_all does not wait for it",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				x, y := alloc[int](pe, 8), alloc[int](pe, 8)
				ctx, err := pe.NewContext()
				if err != nil {
					return err
				}
				src := count(1, 8)
				shmem.PutNBI(x.On(ctx), src, right(pe))
				shmem.Put(y, count(2, 8), right(pe))
				pe.BarrierAll() // with the context open and busy
				if err := equal("put on the default context", y.Local(), count(2, 8)); err != nil {
					return err
				}
				ctx.Quiet()
				pe.SyncAll()
				err = equal("put on the other", x.Local(), count(1, 8))
				ctx.Close()
				return err
			},
		},
		{
			sec: "9.5.1", name: "ctx_create: more contexts than the fabric has queues, in use at once",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				const contexts = 64
				x := alloc[uint64](pe, 1)
				var list []*shmem.Context
				for range contexts {
					list = append(list, newContext(pe.World()))
				}
				err := together(contexts, func(i int) error {
					for range 3 {
						shmem.AtomicInc(x.On(list[i]), right(pe))
						list[i].Quiet()
					}
					list[i].Close()
					return nil
				})
				pe.BarrierAll()
				return first(err, equal("increments", x.Local()[0], 3*contexts))
			},
		},
		{
			sec: "9.5.2", name: "team_create_ctx: numbers are the team's, in every kind of verb",
			faults: []fault{lostPuts, lostWords, lostGets, lostAtomics, lostFetches, lostSignals},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				back := split(pe.World(), n-1, -1, n)
				ctx := newContext(back)
				x, a, sig := alloc[int](pe, 32), alloc[int64](pe, 3), alloc[uint64](pe, 1)
				to := (back.MyPE() + 1) % n // in the team; in the world it is the left neighbour
				from := right(pe)           // who does the same to this PE
				xc, ac := x.On(ctx), a.On(ctx)
				v := 1000 * (pe.MyPE() + 1)
				shmem.Put(xc.Slice(0, 4), count(v, 4), to)
				shmem.PutNBI(xc.Slice(4, 8), count(v+4, 4), to)
				shmem.PutStrided(xc.Slice(8, 12), count(v+8, 4), 1, 1, 4, to)
				shmem.PutV(xc.Slice(12, 16), []shmem.Part[int]{{At: 0, Elems: count(v+12, 4)}}, to)
				shmem.PutValue(xc.At(16), v+16, to)
				shmem.AtomicAdd(ac.At(0), int64(v), to)
				shmem.AtomicSwap(ac.At(1), int64(v), to)
				shmem.AtomicFetchAdd(ac.At(2), int64(v), to)
				shmem.PutSignal(xc.Slice(17, 20), count(v+17, 3), sig.On(ctx), 1, shmem.SigAdd, to)
				ctx.Quiet()
				got, nbi := make([]int, 20), make([]int, 20)
				shmem.Get(got, xc, to)
				shmem.GetNBI(nbi, xc, to)
				value := shmem.GetValue(xc.At(16), to)
				old := shmem.AtomicFetch(ac.At(0), to)
				ctx.Quiet()
				pe.BarrierAll()
				w := 1000 * (from + 1)
				err := first(
					equal("puts", x.Local()[:20], count(w, 20)),
					equal("atomics", a.Local(), []int64{int64(w), int64(w), int64(w)}),
					equal("signal", sig.Local()[0], 1),
					equal("get", got, count(v, 20)),
					equal("non-blocking get", nbi, count(v, 20)),
					equal("value", value, v+16),
					equal("fetched", old, int64(v)),
				)
				back.Destroy()
				return err
			},
		},
		{
			sec: "9.5.2", name: "team_create_ctx: refuses PEs that the team has not, though the world has",
			np: 2,
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				x := alloc[int](pe, 1)
				some := split(pe.World(), 0, 1, n-1)
				if some == nil {
					return nil
				}
				y := x.On(newContext(some))
				err := first(
					equal("PEs", y.Context().NPEs(), n-1),
					refused("put", func() { shmem.Put(y, []int{1}, n-1) }),
					refused("value", func() { shmem.PutValue(y, 1, n-1) }),
					refused("get", func() { shmem.GetValue(y, n-1) }),
					refused("atomic", func() { shmem.AtomicInc(y, n-1) }),
					refused("strided", func() { shmem.PutStrided(y, []int{1}, 1, 1, 1, n-1) }),
					refused("ptr", func() { shmem.Ptr(y, n-1) }),
					refused("context of no team", func() { _, _ = (*shmem.Team)(nil).NewContext() }),
				)
				some.Destroy()
				return err
			},
		},
		{
			sec: "9.5.2", name: "team_create_ctx: any member may, without the others, on goroutines of their own",
			np: 2, faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 16)
				team := split(pe.World(), 0, 1, pe.NPEs())
				if pe.MyPE() == 0 {
					err := together(2, func(i int) error {
						ctx := newContext(team, shmem.Private)
						for range 5 {
							shmem.PutNBI(x.On(ctx).Slice(8*i, 8*i+8), count(8*i, 8), 1)
							ctx.Quiet()
						}
						ctx.Close()
						return nil
					})
					if err != nil {
						return err
					}
				}
				pe.BarrierAll()
				team.Destroy()
				if pe.MyPE() != 1 {
					return nil
				}
				return equal("puts of two goroutines", x.Local(), count(0, 16))
			},
		},
		{
			sec: "9.5.3", name: "ctx_destroy: completes what is its own; no context is none to destroy",
			faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				x := alloc[int](pe, 8*5)
				for i := range 5 {
					ctx := newContext(pe.World())
					part := x.Slice(8*i, 8*i+8)
					shmem.PutNBI(part.On(ctx), count(i, 8), right(pe))
					ctx.Close()
					pe.SyncAll()
					if err := equal("put", part.Local(), count(i, 8)); err != nil {
						return err
					}
				}
				(*shmem.Context)(nil).Close()
				return nil
			},
		},
		{
			sec: "9.5.3", name: "ctx_destroy: what is done on it afterwards is refused, as is the default context's end",
			run: func(pe *shmem.PE) error {
				x, sig := alloc[int64](pe, 4), alloc[uint64](pe, 1)
				ctx := newContext(pe.World())
				y := x.On(ctx)
				ctx.Close()
				to := right(pe)
				return first(
					refused("put", func() { shmem.Put(y, []int64{1}, to) }),
					refused("get", func() { shmem.Get(make([]int64, 1), y, to) }),
					refused("non-blocking put", func() { shmem.PutNBI(y, []int64{1}, to) }),
					refused("strided get", func() { shmem.GetStrided(make([]int64, 1), y, 1, 1, 1, to) }),
					refused("list", func() { shmem.PutV(y, nil, to) }),
					refused("value", func() { shmem.PutValue(y.At(0), 1, to) }),
					refused("atomic", func() { shmem.AtomicInc(y.At(0), to) }),
					refused("signal", func() { shmem.PutSignal(y, []int64{1}, sig.On(ctx), 1, shmem.SigSet, to) }),
					refused("wait", func() { shmem.WaitUntil(y.At(0), shmem.CmpEQ, 0) }),
					refused("fence", ctx.Fence),
					refused("quiet", ctx.Quiet),
					refused("quiet of some", func() { ctx.QuietPEs(nil) }),
					refused("session", func() { ctx.StartSession(shmem.SessionConfig{}) }),
					refused("close", ctx.Close),
					refused("the default context's end", pe.Context().Close),
					equal("object itself", x.Len(), 4),
				)
			},
		},
		{
			sec: "9.5.4", name: "ctx_get_team: is the team that made it, the world for the default one, none for none",
			run: func(pe *shmem.PE) error {
				team := split(pe.World(), 0, 1, pe.NPEs())
				ctx := newContext(team)
				err := first(
					equal("team's", ctx.Team() == team, true),
					equal("PE's", newContext(pe.World()).Team() == pe.World(), true),
					equal("default", pe.Context().Team() == pe.World(), true),
					equal("none", (*shmem.Context)(nil).Team() == nil, true),
				)
				team.Destroy()
				return err
			},
		},
		{
			sec: "9.9.1", name: "ctx_session_config_t: any number of operations, but no negative one",
			run: func(pe *shmem.PE) error {
				ctx := newContext(pe.World())
				defer ctx.Close()
				for _, n := range []int{0, 1, 1 << 40} {
					ctx.StartSession(shmem.SessionConfig{TotalOps: n})
					ctx.StopSession()
				}
				return refused("-1", func() { ctx.StartSession(shmem.SessionConfig{TotalOps: -1}) })
			},
		},
		{
			sec: "9.9.2", name: "ctx_session_start: changes no promise of fence, also nested",
			faults: []fault{lostPuts, lostWords},
			run: func(pe *shmem.PE) error {
				ctx := newContext(pe.World())
				ctx.StartSession(shmem.SessionConfig{Batch: true, TotalOps: 9})
				ctx.StartSession(shmem.SessionConfig{})
				(*shmem.Context)(nil).StartSession(shmem.SessionConfig{Batch: true})
				x, flag := alloc[int](pe, 8), alloc[int](pe, 1)
				for i, v := range count(1, 4) {
					shmem.PutValue(x.On(ctx).At(i), v, right(pe))
				}
				shmem.Put(x.On(ctx).Slice(4, 8), count(5, 4), right(pe))
				ctx.Fence()
				shmem.PutValue(flag.On(ctx), 1, right(pe))
				shmem.WaitUntil(flag, shmem.CmpEQ, 1)
				err := equal("what came before the fence", x.Local(), count(1, 8))
				pe.BarrierAll()
				ctx.Close()
				return err
			},
		},
		{
			sec: "9.9.3", name: "ctx_session_stop: what was started is completed by quiet; without a session it does nothing",
			faults: []fault{quietIgnored, lostAtomics},
			run: func(pe *shmem.PE) error {
				ctx, x := newContext(pe.World()), alloc[int](pe, 8)
				(*shmem.Context)(nil).StopSession()
				ctx.StopSession()
				for range 5 {
					ctx.StartSession(shmem.SessionConfig{Batch: true})
					for i := range 8 {
						shmem.AtomicInc(x.On(ctx).At(i), right(pe))
					}
					ctx.StopSession()
				}
				ctx.Quiet()
				pe.SyncAll()
				ctx.StopSession()
				err := equal("increments", x.Local(), []int{5, 5, 5, 5, 5, 5, 5, 5})
				ctx.Close()
				return err
			},
		},
		{
			sec: "9.12.3", name: "pe_quiet: completes what was issued to the PEs in the list, as quiet does",
			faults: []fault{quietIgnored, lostPuts, lostAtomics, lostFetches},
			run: func(pe *shmem.PE) error {
				return toSome(pe, pe.Context(), pe.QuietPEs)
			},
			without: func(pe *shmem.PE) error { return toSome(pe, pe.Context(), func([]int) {}) },
		},
		{
			sec: "9.12.3", name: "pe_quiet: on a team's context takes the team's numbers",
			faults: []fault{quietIgnored, lostPuts, lostAtomics, lostFetches},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				back := split(pe.World(), n-1, -1, n)
				ctx := newContext(back)
				err := toSome(pe, ctx, ctx.QuietPEs)
				if err == nil {
					back.Destroy()
				}
				return err
			},
		},
		{
			sec: "9.12.3", name: "pe_quiet: of none does nothing, and of PEs that there are not is refused",
			run: func(pe *shmem.PE) error {
				pe.QuietPEs(nil)
				pe.QuietPEs([]int{0, 0})
				(*shmem.Context)(nil).QuietPEs([]int{0})
				return first(
					refused("a PE too many", func() { pe.QuietPEs([]int{0, pe.NPEs()}) }),
					refused("a negative one", func() { pe.QuietPEs([]int{-1}) }),
				)
			},
		},
	}
}

// toSome puts to every other PE of the context's team by all kinds of operations, quiets those
// PEs, and tells them so past the context.
func toSome(pe *shmem.PE, ctx *shmem.Context, quiet func([]int)) error {
	n := ctx.NPEs()
	team := ctx.Team()
	x, a, flag := alloc[int](pe, 8*n), alloc[uint64](pe, 1), alloc[uint64](pe, 1)
	mine := x.On(ctx).Slice(8*team.MyPE(), 8*team.MyPE()+8)
	src, old := count(1, 8), make([]uint64, n)
	var list []int
	for i := 0; i < n; i += 2 {
		list = append(list, i)
		shmem.PutNBI(mine.Slice(0, 4), src[:4], i)
		shmem.Put(mine.Slice(4, 8), src[4:], i)
		shmem.AtomicAdd(a.On(ctx), 1, i)
		shmem.AtomicFetchAddNBI(&old[i], a.On(ctx), 1, i)
	}
	quiet(list)
	for _, i := range list {
		shmem.SignalAdd(flag, 1, team.TranslatePE(i, pe.World()))
	}
	var err error
	if team.MyPE()%2 == 0 {
		shmem.WaitUntil(flag, shmem.CmpEQ, uint64(n))
		for i := range n {
			err = first(err, equal("put", x.Local()[8*i:8*i+8], count(1, 8)))
		}
		err = first(err, equal("sum", shmem.AtomicFetch(a, pe.MyPE()), uint64(2*n)))
	}
	pe.BarrierAll()
	if err == nil {
		ctx.Quiet()
	}
	return err
}
