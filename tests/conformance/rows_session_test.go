// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

var (
	batchesHeld = fault{"batches that don't leave by themselves", loop.Faults{HoldBatches: true}}
	batchesKept = fault{"batches kept until quiet", loop.Faults{KeepBatches: true}}
)

// sessionRows say when what a session has collected leaves.
func sessionRows() []row {
	return []row{
		{
			sec: "9.9.2", name: "ctx_session_start: what was collected leaves by itself",
			faults: []fault{batchesHeld, lostWords},
			run:    func(pe *shmem.PE) error { return collected(pe, 5, func(*shmem.Context, int) {}) },
		},
		{
			sec: "9.9.2", name: "ctx_session_start: what was collected leaves when its PE waits",
			faults: []fault{batchesKept, lostWords},
			run: func(pe *shmem.PE) error {
				x, ctx := alloc[uint64](pe, 2), newContext(pe.World())
				defer ctx.Close()
				ctx.StartSession(shmem.SessionConfig{Batch: true})
				for i, wait := range []func(v uint64){
					func(v uint64) { shmem.WaitUntil(x.At(0), shmem.CmpEQ, v) },
					func(v uint64) { shmem.SignalWaitUntil(x.At(0), shmem.CmpEQ, v) },
					func(v uint64) { shmem.WaitUntilAny(x, nil, shmem.CmpEQ, v) },
					func(v uint64) { shmem.WaitUntilAll(x, []int{0, 1}, shmem.CmpEQ, v) },
					func(v uint64) { shmem.WaitUntilSome(make([]int, 2), x, nil, shmem.CmpEQ, v) },
					func(v uint64) { shmem.WaitUntilAnyVector(x, nil, shmem.CmpEQ, []uint64{v, 99}) },
				} {
					shmem.PutValue(x.At(0).On(ctx), uint64(i+1), right(pe))
					wait(uint64(i + 1))
					pe.SyncAll() // nobody waits for a value that is over
				}
				return nil
			},
		},
		{
			sec: "9.9.2", name: "ctx_session_start: what was collected leaves when its PE gets or fetches",
			faults: []fault{batchesKept, lostWords},
			run: func(pe *shmem.PE) error {
				y, got := alloc[int32](pe, 4), make([]int32, 4)
				calls := []func(){
					func() { shmem.Get(got, y, right(pe)) },
					func() { shmem.GetStrided(got, y, 2, 2, 2, right(pe)) },
					func() { shmem.GetV([]shmem.Part[int32]{{At: 1, Elems: got[:2]}}, y, right(pe)) },
					func() { shmem.GetValue(y.At(0), right(pe)) },
					func() { shmem.AtomicFetch(y.At(0), right(pe)) },
					func() { shmem.AtomicCompareSwap(y.At(0), 0, 0, right(pe)) },
				}
				return collected(pe, len(calls), func(_ *shmem.Context, i int) { calls[i]() })
			},
		},
		{
			sec: "9.9.3", name: "ctx_session_stop: what was collected leaves",
			faults: []fault{batchesKept, lostWords},
			run: func(pe *shmem.PE) error {
				return collected(pe, 5, func(ctx *shmem.Context, _ int) { ctx.StopSession() })
			},
		},
	}
}

// collected puts to the right in sessions, calls call, and then nothing but Test until what the
// left neighbour has put is there.
func collected(pe *shmem.PE, rounds int, call func(ctx *shmem.Context, i int)) error {
	x, ctx := alloc[int64](pe, 1), newContext(pe.World())
	defer ctx.Close()
	for i := range rounds {
		ctx.StartSession(shmem.SessionConfig{Batch: true})
		shmem.PutValue(x.On(ctx), int64(i+1), right(pe))
		call(ctx, i)
		for !shmem.Test(x, shmem.CmpEQ, int64(i+1)) {
		}
		pe.SyncAll()
	}
	return nil
}

// TestSessions_LeaveNothingToTime: sessions go on also where what they collect waits for a call.
func TestSessions_LeaveNothingToTime(t *testing.T) {
	for _, r := range rows() {
		byTime := slices.ContainsFunc(r.faults, func(f fault) bool { return f.faults.HoldBatches })
		if !strings.HasPrefix(r.sec, "9.9.") || byTime {
			continue
		}
		t.Run(r.title(), func(t *testing.T) {
			for _, np := range counts {
				o := r.options(shmemtest.Delays(uint64(np), longest), shmemtest.Faults(batchesHeld.faults))
				if err := r.verdict(tryInBubble(t, np, r.run, o...)); err != nil {
					t.Errorf("%d PEs: %v", np, err)
				}
			}
		})
	}
}
