// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

// startedRows are about collectives that run while the program does something else.
func startedRows() []row {
	return []row{
		{
			sec: "9.10.7", name: "beyond: started broadcasts from each root are complete at their waits, and not in the way of other collectives",
			heap: 1 << 20, faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				for _, m := range []int{0, 1, 40, 3000} {
					src, dst, all := alloc[int32](pe, m), alloc[int32](pe, m*n), alloc[int32](pe, n)
					one := alloc[int32](pe, 1)
					copy(src.Local(), count(int32(pe.MyPE()<<16), m))
					var started []*shmem.Collective
					var want []int32
					for root := range n {
						started = append(started, shmem.BroadcastAsync(pe.World(), dst.Slice(root*m, root*m+m), src, root))
						want = append(want, count(int32(root<<16), m)...)
						one.Local()[0] = int32(100*root + pe.MyPE())
						shmem.FCollect(pe.World(), all, one)
						if err := equal("collected meanwhile", all.Local(), count(int32(100*root), n)); err != nil {
							return err
						}
						pe.SyncAll()
					}
					for _, c := range slices.Backward(started) {
						c.Wait()
					}
					if err := equal("dst", dst.Local(), want); m > 0 && err != nil {
						return err
					}
					pe.BarrierAll()
				}
				return nil
			},
		},
		{
			sec: "9.10.5", name: "beyond: a started alltoall is complete when it tests so, in any goroutine",
			heap: 1 << 20, faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				for _, m := range []int{1, 1000} {
					src, dst := alloc[int32](pe, n*m), alloc[int32](pe, n*m)
					var want []int32
					for j := range n {
						copy(src.Local()[j*m:], count(int32(pe.MyPE()<<16+j<<12), m))
						want = append(want, count(int32(j<<16+pe.MyPE()<<12), m)...)
					}
					c := shmem.AllToAllAsync(pe.World(), dst, src)
					err := together(3, func(int) error {
						c.Wait()
						if !c.Test() {
							return broken("waited for, and not complete")
						}
						return equal("dst", dst.Local(), want)
					})
					if err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			sec: "9.10.9", name: "beyond: started reductions run in the order of their starts, each with its operation",
			faults: []fault{lostReductions},
			run: func(pe *shmem.PE) error {
				type reduce = func(*shmem.Team, shmem.Sym[uint8], shmem.Sym[uint8]) *shmem.Collective
				starts := []reduce{
					shmem.SumReduceAsync[uint8], shmem.ProdReduceAsync[uint8], shmem.MaxReduceAsync[uint8], shmem.MinReduceAsync[uint8],
					shmem.AndReduceAsync[uint8], shmem.OrReduceAsync[uint8], shmem.XorReduceAsync[uint8],
				}
				verbs := []func(*shmem.Team, shmem.Sym[uint8], shmem.Sym[uint8]){
					shmem.SumReduce[uint8], shmem.ProdReduce[uint8], shmem.MaxReduce[uint8], shmem.MinReduce[uint8],
					shmem.AndReduce[uint8], shmem.OrReduce[uint8], shmem.XorReduce[uint8],
				}
				src, got, want := alloc[uint8](pe, 3), alloc[uint8](pe, 3*len(starts)), alloc[uint8](pe, 3*len(starts))
				copy(src.Local(), []uint8{3, uint8(pe.MyPE() + 1), 1<<7 | uint8(5*pe.MyPE())})
				var last *shmem.Collective
				for i, start := range starts {
					last = start(pe.World(), got.Slice(3*i, 3*i+3), src)
				}
				for i, verb := range verbs {
					verb(pe.World(), want.Slice(3*i, 3*i+3), src)
				}
				last.Wait() // those before it are complete as well
				n := uint8(pe.NPEs())
				return first(equal("results", got.Local(), want.Local()), equal("sum", got.Local()[1], n*(n+1)/2))
			},
		},
		{
			sec: "9.10.9", name: "beyond: a started reduction is waited for before finalize and before its team ends",
			run: func(pe *shmem.PE) error {
				team, err := pe.World().SplitStrided(pe.NPEs()-1, -1, pe.NPEs())
				if err != nil {
					return err
				}
				x := alloc[float64](pe, 3)
				c := shmem.MaxReduceAsync(team, x, x)
				if err := refused("the team's end", team.Destroy); err != nil {
					return err
				}
				c.Wait()
				team.Destroy()
				c.Wait()
				return refused("a start on a team that has ended", func() { shmem.MaxReduceAsync(team, x, x) })
			},
		},
	}
}
