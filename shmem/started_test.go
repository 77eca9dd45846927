// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// on runs f with PEs that are far from each other, in pairs, and near.
func on(t *testing.T, np int, f func(pe *shmem.PE) error) {
	t.Helper()
	for name, opts := range map[string][]shmemtest.Option{"far": nil, "pairs": {shmemtest.Nodes(2)}, "near": {shmemtest.Nodes(np)}} {
		t.Run(name, func(t *testing.T) { shmemtest.Run(t, np, f, append(opts, shmemtest.Heap(1<<20))...) })
	}
}

// A PE that has not started its part holds up the others' Wait, and nothing else: they
// are in other collectives of the team meanwhile.
func TestCollective_OverlapsWithCallsOfTheTeam(t *testing.T) {
	const np, rounds, n = 4, 20, 100
	on(t, np, func(pe *shmem.PE) error {
		x, sums, all := alloc[int64](pe, n), alloc[int64](pe, rounds*n), alloc[int64](pe, np)
		one := alloc[int64](pe, 1)
		for i := range x.Local() {
			x.Local()[i] = int64(pe.MyPE() + i)
		}
		var started []*shmem.Collective
		for i := range rounds {
			started = append(started, shmem.SumReduceAsync(pe.World(), sums.Slice(i*n, (i+1)*n), x))
			one.Local()[0] = int64(100*i + pe.MyPE())
			shmem.FCollect(pe.World(), all, one)
			if got, last := all.Local()[np-1], int64(100*i+np-1); got != last {
				return fmt.Errorf("PE %d, round %d: collected %d, want %d", pe.MyPE(), i, got, last)
			}
			pe.SyncAll()
		}
		for _, c := range slices.Backward(started) {
			c.Wait()
			if !c.Test() {
				return errors.New("a collective is not complete after its Wait")
			}
		}
		for i, got := range sums.Local() {
			if want := int64(np*(np-1)/2 + np*(i%n)); got != want {
				return fmt.Errorf("PE %d, sum %d: got %d, want %d", pe.MyPE(), i, got, want)
			}
		}
		return nil
	})
}

// The start returns, and so do other calls, while another PE is yet to start.
func TestCollective_StartsWithoutTheOthers(t *testing.T) {
	const np = 3
	on(t, np, func(pe *shmem.PE) error {
		x, y, flag := alloc[int32](pe, 2000), alloc[int32](pe, 2000), alloc[uint64](pe, 1)
		if pe.MyPE() == 0 {
			copy(x.Local(), slices.Repeat([]int32{7}, 2000))
			shmem.SignalWaitUntil(flag, shmem.CmpEQ, np-1)
			shmem.BroadcastAsync(pe.World(), y, x, 0).Wait()
		} else {
			c := shmem.BroadcastAsync(pe.World(), y, x, 0)
			if c.Test() {
				return errors.New("complete before its root has started it")
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := c.WaitContext(ctx); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("a wait with an ended context returned: %w", err)
			}
			shmem.SignalAdd(flag, 1, 0)
			if err := c.WaitContext(context.Background()); err != nil {
				return err
			}
		}
		if !slices.Equal(y.Local(), slices.Repeat([]int32{7}, 2000)) {
			return fmt.Errorf("PE %d did not get what was broadcast: %v …", pe.MyPE(), y.Local()[:4])
		}
		return nil
	})
}

// More than may be outstanding: the start waits for the oldest, and waiting for the last is enough.
func TestCollective_ManyOutstanding(t *testing.T) {
	const np, many = 3, 200
	on(t, np, func(pe *shmem.PE) error {
		x, y := alloc[int64](pe, np), alloc[int64](pe, many*np)
		for i := range x.Local() {
			x.Local()[i] = int64(10*pe.MyPE() + i)
		}
		var last *shmem.Collective
		for i := range many {
			last = shmem.AllToAllAsync(pe.World(), y.Slice(i*np, (i+1)*np), x)
		}
		last.Wait()
		for i, got := range y.Local() {
			if want := int64(10*(i%np) + pe.MyPE()); got != want {
				return fmt.Errorf("PE %d, element %d: got %d, want %d", pe.MyPE(), i, got, want)
			}
		}
		return nil
	})
}

// Goroutines of each PE, each with a team of its own, which ends and whose words another gets.
func TestCollective_TeamsAndGoroutines(t *testing.T) {
	const np, goroutines, lives, rounds = 4, 6, 3, 10
	on(t, np, func(pe *shmem.PE) error {
		x, y := alloc[int32](pe, goroutines*16), alloc[int32](pe, goroutines*16*2)
		errs := make([]error, goroutines)
		for range lives {
			var teams []*shmem.Team
			for i := range goroutines {
				team, err := pe.World().SplitStrided((np-1)*(i%2), 1-2*(i%2), np)
				if err != nil {
					return err
				}
				teams = append(teams, team)
			}
			var wg sync.WaitGroup
			for i, team := range teams {
				x, y := x.Slice(16*i, 16*i+16), y.Slice(32*i, 32*i+32)
				wg.Go(func() {
					for r := range rounds {
						for k := range x.Local() {
							x.Local()[k] = int32(r + k + team.MyPE())
						}
						a := shmem.MaxReduceAsync(team, y.Slice(0, 16), x)
						team.Sync()
						b := shmem.BroadcastAsync(team, y.Slice(16, 32), x, r%np)
						b.Wait()
						a.Wait()
						for k, got := range y.Local() {
							want := int32(r + k + np - 1)
							if k >= 16 {
								want = int32(r + k - 16 + r%np)
							}
							if got != want {
								errs[i] = fmt.Errorf("PE %d, goroutine %d, round %d, element %d: got %d, want %d", pe.MyPE(), i, r, k, got, want)
							}
						}
						team.Sync()
					}
				})
			}
			wg.Wait()
			for _, team := range teams {
				team.Destroy()
			}
		}
		return errors.Join(errs...)
	})
}

func TestCollective_HasToBeWaitedFor(t *testing.T) {
	start := func(team *shmem.Team, pe *shmem.PE) *shmem.Collective {
		x := alloc[int64](pe, 2)
		return shmem.SumReduceAsync(team, x, x) // the line that is named
	}
	for op, run := range map[string]func(pe *shmem.PE) error{
		"Finalize": func(pe *shmem.PE) error { start(pe.World(), pe); return nil },
		"Destroy": func(pe *shmem.PE) error {
			team, err := pe.World().SplitStrided(0, 1, pe.NPEs())
			if err == nil {
				start(team, pe)
				team.Destroy()
			}
			return err
		},
	} {
		t.Run(op, func(t *testing.T) {
			for pe, err := range shmemtest.Try(t, 2, run) {
				var e *shmem.Error
				switch {
				case errors.Is(err, shmem.ErrEnding):
				case !errors.As(err, &e) || e.Op != op || !strings.Contains(e.Reason, "SumReduceAsync") || !strings.Contains(e.Reason, "started_test.go"):
					t.Errorf("PE %d ended with %v, want %s refused and the start named", pe, err, op)
				}
			}
		})
	}
}

func TestCollective_NilIsRefused(t *testing.T) {
	defer func() {
		if e, ok := recover().(*shmem.Error); !ok || !strings.Contains(e.Site, "started_test.go") {
			t.Errorf("Wait of a nil Collective gives %v", e)
		}
	}()
	(*shmem.Collective)(nil).Wait()
}
