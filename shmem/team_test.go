// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// TestTeams_LeaveNothing: teams and contexts that come and go do not add up.
func TestTeams_LeaveNothing(t *testing.T) {
	rounds := 10_000
	if race.Enabled || testing.Short() {
		rounds = 500
	}
	for name, opts := range map[string][]shmemtest.Option{"near": {shmemtest.Nodes(2)}, "far": nil} {
		t.Run(name, func(t *testing.T) {
			shmemtest.Run(t, 2, func(pe *shmem.PE) error {
				x, err := shmem.Alloc[int](pe, 1)
				if err != nil {
					return err
				}
				round := func() error {
					team, err := pe.World().SplitStrided(1, -1, 2)
					if err != nil {
						return err
					}
					var last *shmem.Context
					for range 2 {
						if last, err = team.NewContext(); err != nil {
							return err
						}
						shmem.AtomicInc(x.On(last), 0)
					}
					last.Close() // and the other with the team
					team.Destroy()
					return nil
				}
				var before, after runtime.MemStats
				goroutines, files := 0, 0
				for i := range rounds + 100 {
					if i == 100 && pe.MyPE() == 0 {
						runtime.GC()
						runtime.ReadMemStats(&before)
						goroutines, files = runtime.NumGoroutine(), openFiles()
					}
					if err := round(); err != nil {
						return fmt.Errorf("round %d: %w", i, err)
					}
				}
				pe.BarrierAll()
				if got, want := shmem.AtomicFetch(x, 1), 4*(rounds+100); got != want {
					return fmt.Errorf("%d increments, want %d", got, want)
				}
				if pe.MyPE() != 0 {
					return nil
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 1<<20 {
					return fmt.Errorf("%d bytes more after %d rounds", more, rounds)
				}
				if n := runtime.NumGoroutine(); n > goroutines+10 {
					return fmt.Errorf("%d goroutines, before %d", n, goroutines)
				}
				if n := openFiles(); n > files+2 {
					return fmt.Errorf("%d open files, before %d", n, files)
				}
				return nil
			}, opts...)
		})
	}
}

// openFiles returns how many files this process has open, 0 where that can't be found out.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

func TestTeam_RefusalsNameBothNumbers(t *testing.T) {
	shmemtest.Run(t, 3, func(pe *shmem.PE) error {
		x, err := shmem.Alloc[int64](pe, 2)
		if err != nil {
			return err
		}
		team, err := pe.World().SplitStrided(2, -1, 2)
		if err != nil || team == nil {
			return err
		}
		ctx, err := team.NewContext()
		if err != nil {
			return err
		}
		for want, f := range map[string]func(){
			"target PE 0 of the team, which is PE 2 of the world":                             func() { shmem.Put(x.On(ctx), make([]int64, 3), 0) },
			"PE 2 is out of range: the team's PEs are 0 to 1, which are the world's 2 to 1":   func() { shmem.Put(x.On(ctx), make([]int64, 1), 2) },
			"PE -1 is out of range: the team's PEs are 0 to 1, which are the world's 2 to 1":  func() { shmem.AtomicInc(x.On(ctx).At(0), -1) },
			"Broadcast by PE " + fmt.Sprint(pe.MyPE()) + ": PE 2 is out of range: the team's": func() { shmem.Broadcast(team, x, x, 2) },
			"Destroy by PE " + fmt.Sprint(pe.MyPE()) + ": the team is predefined":             pe.World().Destroy,
		} {
			if got := panicText(f); !strings.Contains(got, want) || !strings.Contains(got, "team_test.go:") {
				return fmt.Errorf("got %q, want %q and the place", got, want)
			}
		}
		team.Destroy()
		for _, f := range []func(){team.Sync, team.Destroy, func() { team.NPEs() }, func() { shmem.Broadcast(team, x, x, 0) }, func() { _, _ = team.SplitStrided(0, 1, 1) }} {
			if got := panicText(f); !strings.Contains(got, "the team was destroyed") || !strings.Contains(got, "team_test.go:") {
				return fmt.Errorf("got %q, want that the team was destroyed, and the place", got)
			}
		}
		return nil
	})
}

// panicText returns what f panics with, or "".
func panicText(f func()) (text string) {
	defer func() {
		if err, ok := recover().(error); ok {
			text = err.Error()
		}
	}()
	f()
	return ""
}

// Splits of several teams at once want the same slots.
func TestSplit_OfTwoTeamsAtOnce(t *testing.T) {
	shmemtest.Run(t, 4, func(pe *shmem.PE) error {
		var parents [2]*shmem.Team
		for i := range parents {
			var err error
			if parents[i], err = pe.World().SplitStrided(0, 1, 4); err != nil {
				return err
			}
		}
		errs := make(chan error, len(parents))
		for i, parent := range parents {
			go func() {
				errs <- func() error {
					for range 30 {
						team, err := parent.SplitStrided(i, 1, 3)
						if err != nil {
							return err
						}
						if team != nil {
							team.Sync()
						}
						team.Destroy()
					}
					return nil
				}()
			}()
		}
		for range parents {
			if err := <-errs; err != nil {
				return err
			}
		}
		return nil
	})
}

func TestSplitStrided_RefusesStridesThatWrapAround(t *testing.T) {
	shmemtest.Run(t, 4, func(pe *shmem.PE) error {
		for _, c := range [][3]int{{0, math.MinInt, 2}, {0, math.MinInt, 3}, {0, math.MaxInt, 3}, {3, math.MinInt / 2, 4}, {1, math.MaxInt/2 + 1, 3}} {
			if team, err := pe.World().SplitStrided(c[0], c[1], c[2]); err == nil {
				return fmt.Errorf("%d PEs of 4 from %d on by %d: got team %p, want an error", c[2], c[0], c[1], team)
			}
		}
		return nil
	})
}

// Of two goroutines' collectives on one team, one is refused while the other waits.
func TestTeam_OneCollectiveAtATime(t *testing.T) {
	shmemtest.Run(t, 2, func(pe *shmem.PE) error {
		turn, err := shmem.Alloc[int](pe, 1)
		if err != nil {
			return err
		}
		if pe.MyPE() == 1 {
			shmem.WaitUntil(turn, shmem.CmpEQ, 1)
			pe.BarrierAll()
			return nil
		}
		ends := make(chan string, 2)
		for range 2 {
			go func() { ends <- panicText(pe.BarrierAll) }()
		}
		if got := <-ends; !strings.Contains(got, "BarrierAll by PE 0: this PE is in another collective") {
			return fmt.Errorf("got %q, want that there is another collective", got)
		}
		shmem.PutValue(turn, 1, 1)
		if got := <-ends; got != "" {
			return fmt.Errorf("the collective that was first panics: %s", got)
		}
		return nil
	})
}
