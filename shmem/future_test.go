// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

var errDone = errors.New("the program has seen enough")

// A wait does not wait for operations of the same context to a PE that is stopped. In the
// bubble, one that did would be a deadlock.
func TestFuture_WaitsForItsPEOnly(t *testing.T) {
	stopped := loop.Faults{Hold: func(e loop.Event) bool { return e.Target == 1 && e.Source == 0 && e.Off >= segment.SystemSize }}
	synctest.Test(t, func(t *testing.T) {
		errs := shmemtest.Try(t, 3, func(pe *shmem.PE) error {
			x, a := alloc[int64](pe, 8), alloc[int64](pe, 1)
			copy(x.Local(), []int64{1, 2, 3, 4, 5, 6, 7, 8})
			pe.BarrierAll()
			if pe.MyPE() != 0 {
				return nil
			}
			got, old := make([]int64, 8), int64(-1)
			shmem.PutAsync(x, got, 1)
			shmem.GetAsync(make([]int64, 8), x, 1)
			for i := range int64(10) {
				shmem.GetAsync(got[:4], x, 2).Wait()
				if !slices.Equal(got[:4], []int64{10*i + 1, 2, 3, 4}) {
					return fmt.Errorf("got %v in round %d", got, i)
				}
				shmem.PutAsync(x, []int64{10*i + 11}, 2).Wait()
				shmem.AtomicFetchAddAsync(&old, a, 3, 2).Wait()
				if old != 3*i {
					return fmt.Errorf("the word was %d in round %d", old, i)
				}
			}
			return errDone
		}, shmemtest.Faults(stopped), shmemtest.Delays(1, time.Millisecond))
		if !errors.Is(errs[0], errDone) {
			t.Errorf("PE 0 ended with %v", errs[0])
		}
	})
}

// Closing a context, destroying its team and Finalize complete what futures stand for.
func TestFuture_WaitAfterTheContextIsClosed(t *testing.T) {
	for name, opts := range map[string][]shmemtest.Option{"far": nil, "near": {shmemtest.Nodes(2)}} {
		t.Run(name, func(t *testing.T) {
			var later [2][2]shmem.Future
			var result [2][]int64
			shmemtest.Run(t, 2, func(pe *shmem.PE) error {
				x, y, me, other := alloc[int64](pe, 4), alloc[int64](pe, 1), pe.MyPE(), 1-pe.MyPE()
				copy(x.Local(), []int64{1, 2, 3, 4})
				pe.BarrierAll()
				team, err := pe.World().SplitStrided(0, 1, 2)
				if err != nil {
					return err
				}
				for end, with := range map[string]func(*shmem.Context){
					"Close":   (*shmem.Context).Close,
					"Destroy": func(*shmem.Context) { team.Destroy() },
				} {
					ctx, err := pe.NewContext()
					if end == "Destroy" {
						ctx, err = team.NewContext()
					}
					if err != nil {
						return err
					}
					got := make([]int64, 4)
					get, put := shmem.GetAsync(got, x.On(ctx), other), shmem.PutAsync(y.On(ctx), []int64{1}, other)
					with(ctx)
					get.Wait()
					put.Wait()
					if !slices.Equal(got, []int64{1, 2, 3, 4}) {
						return fmt.Errorf("got %v after %s", got, end)
					}
				}
				result[me] = make([]int64, 4)
				later[me] = [...]shmem.Future{shmem.GetAsync(result[me], x, other), shmem.PutAsync(y, []int64{1}, other)}
				return nil
			}, opts...)
			for me, futures := range later {
				for _, f := range futures {
					f.Wait()
				}
				if !slices.Equal(result[me], []int64{1, 2, 3, 4}) {
					t.Errorf("PE %d got %v after Finalize", me, result[me])
				}
			}
		})
	}
}

// A transfer that fails is not taken for complete.
func TestFuture_WaitTellsOfAFailure(t *testing.T) {
	broken := errors.New("broken on purpose")
	faults := loop.Faults{Fail: func(e loop.Event) error {
		if e.Kind == loop.Get && e.Off >= segment.SystemSize {
			return broken
		}
		return nil
	}}
	errs := shmemtest.Try(t, 2, func(pe *shmem.PE) error {
		x := alloc[int64](pe, 4)
		if pe.MyPE() == 0 {
			shmem.GetAsync(make([]int64, 4), x, 1).Wait()
			return errDone
		}
		return nil
	}, shmemtest.Faults(faults))
	var e *shmem.Error
	if !errors.As(errs[0], &e) || !errors.Is(errs[0], broken) || e.Op != "Wait" {
		t.Errorf("PE 0 ended with %v, want Wait's panic", errs[0])
	}
}
