// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// A mismatch is a program in which the last PE calls another collective than
// the rest. Each call is on one line, which the report must name.
type mismatch struct {
	name       string
	rest, last func(pe *shmem.PE, x, y shmem.Sym[int32])
	calls      [2]string // how the report calls them
}

func mismatches() []mismatch {
	type objects = shmem.Sym[int32]
	return []mismatch{
		{
			"Alloc of different sizes",
			func(pe *shmem.PE, _, _ objects) { _, _ = shmem.Alloc[byte](pe, 64) },
			func(pe *shmem.PE, _, _ objects) { _, _ = shmem.Alloc[byte](pe, 4096) },
			[2]string{"Alloc of 64 elements of 1 bytes", "Alloc of 4096 elements of 1 bytes"},
		},
		{
			"Alloc of different types",
			func(pe *shmem.PE, _, _ objects) { _, _ = shmem.Alloc[int16](pe, 8) },
			func(pe *shmem.PE, _, _ objects) { _, _ = shmem.Alloc[int32](pe, 8) },
			[2]string{"Alloc of 8 elements of 2 bytes", "Alloc of 8 elements of 4 bytes"},
		},
		{
			"AllocAligned of different alignments",
			func(pe *shmem.PE, _, _ objects) { _, _ = shmem.AllocAligned[int64](pe, 8, 64) },
			func(pe *shmem.PE, _, _ objects) { _, _ = shmem.AllocAligned[int64](pe, 8, 128) },
			[2]string{"aligned to 64", "aligned to 128"},
		},
		{
			"Free of different objects",
			func(_ *shmem.PE, x, _ objects) { shmem.Free(x) },
			func(_ *shmem.PE, _, y objects) { shmem.Free(y) },
			[2]string{"Free of the object at offset", "Free of the object at offset"},
		},
		{
			"BarrierAll against Finalize",
			func(pe *shmem.PE, _, _ objects) { pe.BarrierAll() },
			func(*shmem.PE, objects, objects) {}, // leaves the loop early
			[2]string{"BarrierAll", "Finalize"},
		},
		{
			"BarrierAll against SyncAll",
			func(pe *shmem.PE, _, _ objects) { pe.BarrierAll() },
			func(pe *shmem.PE, _, _ objects) { pe.SyncAll() },
			[2]string{"BarrierAll", "SyncAll"},
		},
		{
			"Alloc against Free",
			func(pe *shmem.PE, _, _ objects) { _, _ = shmem.Alloc[byte](pe, 1) },
			func(_ *shmem.PE, x, _ objects) { shmem.Free(x) },
			[2]string{"Alloc of 1 elements", "Free of the object"},
		},
		{
			"Broadcast of different lengths",
			func(pe *shmem.PE, x, y objects) { shmem.Broadcast(pe.World(), x, y, 0) },
			func(pe *shmem.PE, x, y objects) { shmem.Broadcast(pe.World(), x, y.Slice(0, 3), 0) },
			[2]string{"Broadcast of 8 elements of 4 bytes from PE 0", "Broadcast of 3 elements of 4 bytes from PE 0"},
		},
		{
			"Broadcast from different roots",
			func(pe *shmem.PE, x, y objects) { shmem.Broadcast(pe.World(), x, y, 0) },
			func(pe *shmem.PE, x, y objects) { shmem.Broadcast(pe.World(), x, y, 1) },
			[2]string{"from PE 0", "from PE 1"},
		},
		{
			"FCollect against AllToAll",
			func(pe *shmem.PE, x, y objects) { shmem.FCollect(pe.World(), x, y.Slice(0, 1)) },
			func(pe *shmem.PE, x, y objects) { shmem.AllToAll(pe.World(), x, y.Slice(0, pe.NPEs())) },
			[2]string{"FCollect of 1 elements", "AllToAll of 1 elements"},
		},
		{
			"SumReduce of different lengths",
			func(pe *shmem.PE, x, y objects) { shmem.SumReduce(pe.World(), x, y) },
			func(pe *shmem.PE, x, y objects) { shmem.SumReduce(pe.World(), x, y.Slice(0, 0)) },
			[2]string{"SumReduce of 8 elements", "SumReduce of 0 elements"},
		},
		{
			"BroadcastAsync of different lengths",
			func(pe *shmem.PE, x, y objects) { shmem.BroadcastAsync(pe.World(), x, y, 0).Wait() },
			func(pe *shmem.PE, x, y objects) { shmem.BroadcastAsync(pe.World(), x, y.Slice(0, 3), 0).Wait() },
			[2]string{"Broadcast of 8 elements of 4 bytes from PE 0", "Broadcast of 3 elements of 4 bytes from PE 0"},
		},
		{
			"SumReduceAsync, not started by all, before BarrierAll",
			func(pe *shmem.PE, x, y objects) { shmem.SumReduceAsync(pe.World(), x, y); pe.BarrierAll() },
			func(pe *shmem.PE, _, _ objects) { pe.BarrierAll() },
			[2]string{"BarrierAll (collectives started before it: 1)", "BarrierAll at"},
		},
		{
			"AllToAllAsync, waited for, against SyncAll",
			func(pe *shmem.PE, x, y objects) { shmem.AllToAllAsync(pe.World(), x, y.Slice(0, pe.NPEs())).Wait() },
			func(pe *shmem.PE, _, _ objects) { pe.SyncAll() },
			[2]string{"Wait for a collective that was started", "SyncAll"},
		},
	}
}

func (m *mismatch) run(pe *shmem.PE) error {
	x, y := alloc[int32](pe, 8), alloc[int32](pe, 8)
	if pe.MyPE() == pe.NPEs()-1 {
		m.last(pe, x, y)
	} else {
		m.rest(pe, x, y)
	}
	return nil
}

// places returns file:line of the two calls. That of Finalize is the library's
// own, or the harness's.
func (m *mismatch) places() []string {
	var places []string
	for i, f := range [...]any{m.rest, m.last} {
		if m.calls[i] != "Finalize" {
			pc := reflect.ValueOf(f).Pointer()
			file, line := runtime.FuncForPC(pc).FileLine(pc)
			places = append(places, fmt.Sprintf("%s:%d", filepath.Base(file), line))
		}
	}
	return places
}

// Whoever reports a mismatch names both calls and both places, on all kinds of
// groups: those that synchronise through endpoints, and through memory.
func TestMismatch_NamesBothCalls(t *testing.T) {
	for _, m := range mismatches() {
		t.Run(m.name, func(t *testing.T) {
			for _, np := range [...]int{2, 3, 8} {
				m.check(t, "far", np, shmemtest.Try(t, np, m.run))
				m.check(t, "pairs", np, shmemtest.Try(t, np, m.run, shmemtest.Nodes(2)))
				m.check(t, "near", np, shmemtest.Try(t, np, m.run, shmemtest.Nodes(np)))
				for seed := range uint64(3) {
					synctest.Test(t, func(t *testing.T) {
						m.check(t, "delayed", np, shmemtest.Try(t, np, m.run, shmemtest.Delays(seed, time.Millisecond)))
						time.Sleep(time.Second) // what is under way ends
					})
				}
			}
		})
	}
}

// check wants at least one PE to report; the others may end because of it.
func (m *mismatch) check(t *testing.T, place string, np int, errs []error) {
	t.Helper()
	reports := 0
	for pe, err := range errs {
		var e *shmem.Error
		var mismatch *collectives.MismatchError
		switch {
		case errors.Is(err, shmem.ErrEnding):
		case !errors.As(err, &e) || !errors.As(err, &mismatch):
			t.Errorf("%d PEs, %s: PE %d ended with %v", np, place, pe, err)
		default:
			reports++
			want := append(m.places(), m.calls[:]...)
			if not := missing(err.Error(), append(want, "mismatch", fmt.Sprintf("PE %d is in", pe), fmt.Sprintf("PE %d is in", mismatch.Other))...); not != nil {
				t.Errorf("%d PEs, %s: PE %d's %q lacks %q", np, place, pe, err, not)
			}
		}
	}
	if reports == 0 {
		t.Errorf("%d PEs, %s: no PE reports the mismatch: %v", np, place, errs)
	}
}

func TestMismatch_EndsProcesses(t *testing.T) {
	gorun := buildGorun(t)
	for _, m := range mismatches() {
		t.Run(m.name, func(t *testing.T) {
			for _, np := range [...]int{2, 4} { // as many PEs as cores, or more: groups of two kinds
				out, status := runProgram(t, gorun, "mismatch: "+m.name, np)
				if status == 0 {
					t.Errorf("%d PEs: status 0:\n%s", np, out)
				}
				if not := missing(out, append(m.places(), m.calls[0], m.calls[1], "collective mismatch")...); not != nil {
					t.Errorf("%d PEs: the output lacks %q:\n%s", np, not, strings.TrimSpace(out))
				}
			}
		})
	}
}
