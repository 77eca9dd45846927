// SPDX-License-Identifier: BSD-3-Clause

package loop_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
)

const page = 4096

// two returns the domains of two PEs and an endpoint of PE 0.
func two(t *testing.T, o loop.Options) ([]fabric.Domain, *fabric.Extended) {
	t.Helper()
	o.SegmentSize = page
	domains := open(t, 2, o)
	ep, err := domains[0].Endpoint()
	require.NoError(t, err)
	return domains, fabric.Extend(ep)
}

func TestNew_RefusesImpossibleWorlds(t *testing.T) {
	for _, bad := range []struct {
		n int
		o loop.Options
	}{
		{0, loop.Options{}},
		{2, loop.Options{NodeSize: -1}},
		{2, loop.Options{TearSize: -1}},
		{2, loop.Options{MaxDelay: -1}},
	} {
		_, err := loop.New(bad.n, bad.o)
		require.Error(t, err, "%d PEs, %+v", bad.n, bad.o)
	}
}

func TestOpen_OncePerPE(t *testing.T) {
	w, err := loop.New(2, loop.Options{SegmentSize: page})
	require.NoError(t, err)
	require.Equal(t, "loop", w.Name())
	require.NoError(t, w.Probe())
	for _, bad := range []fabric.Job{
		{PE: 2, NPEs: 2}, {PE: -1, NPEs: 2}, {PE: 0, NPEs: 3}, {PE: 0, NPEs: 2, SegmentSize: 2 * page},
	} {
		_, err := w.Open(bad)
		require.Error(t, err, "%+v", bad)
	}
	_, err = w.Open(fabric.Job{PE: 1, NPEs: 2, SegmentSize: page})
	require.NoError(t, err)
	_, err = w.Open(fabric.Job{PE: 1, NPEs: 2})
	require.ErrorContains(t, err, "PE 1 is open already")
}

func TestMap_FollowsNodes(t *testing.T) {
	for nodeSize, near := range map[int][5]bool{
		0: {false, false, true, false, false},
		1: {false, false, true, false, false},
		2: {false, false, true, true, false},
		3: {true, true, true, false, false},
		9: {true, true, true, true, true},
	} {
		d := open(t, 5, loop.Options{SegmentSize: page, NodeSize: nodeSize})[2]
		for pe, want := range near {
			seg := d.Map(pe)
			require.Equal(t, want, seg != nil, "nodes of %d: PE 2 maps PE %d", nodeSize, pe)
			if want {
				require.Len(t, seg, page)
				require.Equal(t, page, cap(seg), "the segment's slice reaches into the pad")
			}
		}
	}
}

func TestConnect_ChecksWhatItIsGiven(t *testing.T) {
	domains, _ := two(t, loop.Options{})
	_, err := domains[0].Register(make([]byte, page))
	require.Error(t, err)
	_, err = domains[0].Register(domains[0].Map(0)[:8])
	require.Error(t, err)
	b0, err := domains[0].Register(domains[0].Map(0))
	require.NoError(t, err)
	b1, err := domains[1].Register(domains[1].Map(1))
	require.NoError(t, err)
	require.Error(t, domains[0].Connect(fabric.NewTable([][]byte{b0})))
	require.Error(t, domains[0].Connect(fabric.NewTable([][]byte{b1, b0})))
	require.NoError(t, domains[0].Connect(fabric.NewTable([][]byte{b0, b1})))
}

// A wild offset must not become a panic on a NIC goroutine, far from its cause.
func TestOperations_OutsideTheSegmentAreRefused(t *testing.T) {
	domains, ep := two(t, loop.Options{})
	require.ErrorContains(t, ep.Put(1, page-3, make([]byte, 4)), "put of 4 bytes at offset 4093 of PE 1, whose segment has 4096")
	require.Error(t, ep.Get(1, make([]byte, 1), page))
	require.Error(t, ep.Get(1, make([]byte, page+1), 0))
	require.Error(t, ep.Put(1, ^fabric.Addr(0), make([]byte, 2)))
	require.Error(t, ep.PutWord(1, page, 8, 0))
	require.Error(t, ep.PutWord(1, 0, 3, 0))
	require.Error(t, ep.Atomic(1, fabric.OpCswap, fabric.Int32, 0, 1), "a comparing operation that fetches nothing")
	require.Error(t, ep.Atomic(1, fabric.OpRead, fabric.Int32, 0, 1))
	require.Error(t, ep.PutSignal(1, 0, nil, 0, fabric.OpBor, 1))
	require.Error(t, ep.FetchAtomicNBI(1, fabric.OpSum, fabric.Int32, 0, 1, 0, make([]byte, 8)))
	for _, c := range []fabric.Cond{
		{PE: 1, Off: 0, Type: fabric.Int32},
		{PE: 0, Off: page, Type: fabric.Int8},
		{PE: 0, Off: 2, Type: fabric.Int32},
		{PE: 0, Off: 0, Type: fabric.Float32},
	} {
		require.Error(t, domains[0].Wait(c), "%+v", c)
	}
	require.NoError(t, ep.Close())
}

func TestClose_EndsAnEndpoint(t *testing.T) {
	domains, ep := two(t, loop.Options{})
	require.ErrorContains(t, domains[0].Close(), "1 open endpoints")
	require.NoError(t, ep.Close())
	require.NoError(t, ep.Close(), "closing again")
	require.ErrorContains(t, ep.Put(1, 0, make([]byte, 8)), "closed")
	require.ErrorContains(t, ep.Put(1, 0, nil), "closed")
	require.ErrorContains(t, ep.Fence(), "closed")
	require.ErrorContains(t, ep.Quiet(), "closed")
	require.ErrorContains(t, ep.Progress(), "closed")
	require.NoError(t, domains[0].Close())
}

func TestAbort_EndsBlockingOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		domains, ep := two(t, loop.Options{MaxDelay: 1000 * time.Hour})
		require.NoError(t, ep.Put(1, 0, make([]byte, 8)))
		cause := errors.New("PE 1 has had enough")
		var blocked sync.WaitGroup
		for name, op := range map[string]func() error{
			"get":   func() error { return ep.Get(1, make([]byte, 8), 0) },
			"fetch": func() error { _, err := ep.FetchAtomic(1, fabric.OpRead, fabric.Int8, 0, 0, 0); return err },
			"quiet": ep.Quiet,
			"wait":  func() error { return domains[0].Wait(fabric.Cond{PE: 0, Type: fabric.Int8, Value: 1}) },
		} {
			blocked.Go(func() {
				if err := op(); !errors.Is(err, cause) {
					t.Errorf("%s ended with %v, want %v in it", name, err, cause)
				}
			})
		}
		synctest.Wait()
		domains[1].Abort(cause)
		domains[0].Abort(errors.New("too late"))
		blocked.Wait()
		require.ErrorIs(t, ep.Put(1, 0, make([]byte, 8)), cause)
		require.ErrorIs(t, ep.Close(), cause)
		require.NoError(t, domains[0].Close())
		_, err := domains[0].Endpoint()
		require.ErrorIs(t, err, cause)
	})
}

func TestFaults_SeeEveryOperation(t *testing.T) {
	var events []loop.Event
	_, ep := two(t, loop.Options{Faults: loop.Faults{
		Drop: func(e loop.Event) bool { events = append(events, e); return true },
	}, TearSize: 4})
	require.NoError(t, ep.Put(1, 8, make([]byte, 10)))
	require.NoError(t, ep.PutNBI(1, 16, make([]byte, 3)))
	require.NoError(t, ep.Get(0, make([]byte, 5), 24))
	require.NoError(t, ep.PutWord(1, 32, 2, 7))
	require.NoError(t, ep.Atomic(1, fabric.OpMax, fabric.Int16, 40, 1))
	old, err := ep.FetchAtomic(0, fabric.OpCswap, fabric.Uint32, 48, 1, 0)
	require.NoError(t, err)
	require.Zero(t, old)
	require.NoError(t, ep.PutSignal(1, 56, make([]byte, 6), 64, fabric.OpSum, 1))
	require.NoError(t, ep.Put(1, 0, nil), "not an operation")
	require.Equal(t, []loop.Event{
		{Target: 1, Kind: loop.Put, Off: 8, Size: 10, Issue: 1},
		{Target: 1, Kind: loop.Put, Off: 16, Size: 3, Issue: 2},
		{Target: 0, Kind: loop.Get, Off: 24, Size: 5, Issue: 3},
		{Target: 1, Kind: loop.Word, Off: 32, Size: 2, Issue: 4},
		{Target: 1, Kind: loop.Atomic, Op: fabric.OpMax, Off: 40, Size: 2, Issue: 5},
		{Target: 0, Kind: loop.Fetch, Op: fabric.OpCswap, Off: 48, Size: 4, Issue: 6},
		{Target: 1, Kind: loop.Put, Off: 56, Size: 6, Issue: 7},
		{Target: 1, Kind: loop.Signal, Op: fabric.OpSum, Off: 64, Size: 8, Issue: 8},
	}, events)
	require.Equal(t, "fetching atomic", loop.Fetch.String())
}

func TestFaults_FailuresAreReturnedOrKept(t *testing.T) {
	broken := errors.New("cable cut")
	var fail atomic.Bool
	domains, ep := two(t, loop.Options{Faults: loop.Faults{
		Fail: func(loop.Event) error {
			if fail.Load() {
				return broken
			}
			return nil
		},
	}})
	fail.Store(true)
	require.ErrorIs(t, ep.Get(1, make([]byte, 8), 0), broken)
	_, err := ep.FetchAtomic(1, fabric.OpSum, fabric.Int64, 0, 1, 0)
	require.ErrorIs(t, err, broken)
	require.NoError(t, ep.Quiet(), "what was returned is not kept")

	for name, op := range map[string]func() error{
		"put":        func() error { return ep.Put(1, 0, make([]byte, 8)) },
		"put word":   func() error { return ep.PutWord(1, 0, 8, 1) },
		"atomic":     func() error { return ep.Atomic(1, fabric.OpSum, fabric.Int64, 0, 1) },
		"put nbi":    func() error { return ep.PutNBI(1, 0, make([]byte, 8)) },
		"get nbi":    func() error { return ep.GetNBI(1, make([]byte, 8), 0) },
		"put signal": func() error { return ep.PutSignal(1, 8, make([]byte, 8), 0, fabric.OpWrite, 1) },
		"fetch nbi": func() error {
			return ep.FetchAtomicNBI(1, fabric.OpSum, fabric.Int64, 0, 1, 0, make([]byte, 8))
		},
	} {
		fail.Store(true)
		require.NoError(t, op(), name)
		fail.Store(false)
		require.ErrorIs(t, ep.Quiet(), broken, name)
		require.NoError(t, ep.Quiet(), "%s: the failure is returned once", name)
	}
	require.Equal(t, make([]byte, page), domains[1].Map(1), "a failed operation had an effect")
}

// TearSize cuts puts: each piece arrives at a time of its own.
func TestTearSize_PiecesArriveOnTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, piece = 60, 8
		domains, ep := two(t, loop.Options{MaxDelay: time.Second, TearSize: piece})
		began := time.Now()
		var arrived [size]time.Duration
		var waits sync.WaitGroup
		for i := range size {
			waits.Go(func() {
				if err := domains[1].Wait(fabric.Cond{PE: 1, Off: fabric.Addr(4 + i), Type: fabric.Uint8, Value: 'x'}); err != nil {
					t.Error(err)
				}
				arrived[i] = time.Since(began)
			})
		}
		require.NoError(t, ep.Put(1, 4, []byte(strings.Repeat("x", size))))
		waits.Wait()
		pieces := make(map[time.Duration]int)
		for i, at := range arrived {
			pieces[at]++
			require.Equal(t, arrived[i-i%piece], at, "byte %d", i)
		}
		require.Len(t, pieces, (size+piece-1)/piece)
		require.NoError(t, ep.Quiet())
	})
}

// Far more operations than the race detector can follow goroutines.
func TestQuiet_AfterTenThousandPuts(t *testing.T) {
	const puts = 10_000
	domains, ep := two(t, loop.Options{MaxDelay: time.Millisecond})
	for range puts {
		require.NoError(t, ep.Atomic(1, fabric.OpSum, fabric.Uint64, 8, 1))
	}
	require.NoError(t, ep.Quiet())
	got, err := ep.FetchAtomic(1, fabric.OpRead, fabric.Uint64, 8, 0, 0)
	require.NoError(t, err)
	require.EqualValues(t, puts, got)
	require.NoError(t, ep.Close())
	require.NoError(t, domains[0].Close())
}

func TestSleepers_CountsTheOwnPE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		domains, ep := two(t, loop.Options{})
		done := make(chan error)
		go func() { done <- domains[1].Wait(fabric.Cond{PE: 1, Type: fabric.Int8, Value: 1}) }()
		synctest.Wait()
		require.EqualValues(t, 1, atomic.LoadUint32(domains[1].Sleepers()))
		require.Zero(t, atomic.LoadUint32(domains[0].Sleepers()))
		require.NoError(t, ep.PutWord(1, 0, 1, 1))
		require.NoError(t, <-done)
		require.Zero(t, atomic.LoadUint32(domains[1].Sleepers()))
	})
}
