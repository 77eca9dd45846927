// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
)

// waitFor is a wait for a uint64 of PE pe to become v.
func waitFor(pe int, off fabric.Addr, v uint64) fabric.Cond {
	return fabric.Cond{PE: pe, Off: off, Type: fabric.Uint64, Cmp: fabric.CmpEQ, Value: v}
}

// TestWait_HoldsFewThreads: 5,000 goroutines that wait, in words and in gets from
// a PE that does not answer, do not hold as many threads.
func TestWait_HoldsFewThreads(t *testing.T) {
	const waiters = 5000
	d := connected(t, provider(Options{}, 2), 2, small)
	e := endpoint(t, d[0])
	var all sync.WaitGroup
	for i := range waiters {
		all.Go(func() {
			if err := d[1].Wait(waitFor(1, fabric.Addr(8*i), uint64(i+1))); err != nil {
				t.Error(err)
			}
		})
	}
	parked := func() int {
		d[1].waits.mu.Lock()
		defer d[1].waits.mu.Unlock()
		return len(d[1].waits.parked)
	}
	for parked() < waiters {
		require.NoError(t, e.Progress())
	}
	if n := threads(t); n > 100 {
		t.Errorf("%d threads while %d goroutines wait", n, waiters)
	}
	for i := range waiters {
		require.NoError(t, e.PutWord(1, fabric.Addr(8*i), 8, uint64(i+1)))
	}
	require.NoError(t, e.Quiet())
	all.Wait()
}

// threads returns the number of this process's threads.
func threads(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	return len(list)
}

// TestTarget_ThatDoesNotCallDelaysNobody: PE 1 makes no call at all, and PE 0's
// operations take microseconds all the same.
func TestTarget_ThatDoesNotCallDelaysNobody(t *testing.T) {
	t.Run("idle here", func(t *testing.T) {
		d := connected(t, New(Options{}), 2, small)
		answersSoon(t, endpoint(t, d[0]))
	})
	for _, role := range [...]string{"compute", "sleep"} {
		t.Run(role, func(t *testing.T) {
			answersSoon(t, endpoint(t, startPeer(t, Options{}, role).domain))
		})
	}
}

// answersSoon fails the test unless PE 0's operations on PE 1 take microseconds. Other work on
// the machine, that of PE 1's program too, delays as well, so one good median is enough, and
// beside the bound it may be twice what a thread takes that blocks in read and writes back what
// it read, in the same moment: that is woken for each message as the PE's own thread is.
func answersSoon(t *testing.T, e *Endpoint) {
	t.Helper()
	const limit, times, rounds, patience = 60 * time.Microsecond, 2, 101, 20 * time.Second
	echo := startEcho(t)
	b := make([]byte, 8)
	for name, op := range map[string]func() error{
		"put": func() error {
			if err := e.Put(1, 0, b); err != nil {
				return err
			}
			return e.Quiet()
		},
		"get":   func() error { return e.Get(1, b, 0) },
		"fetch": func() error { _, err := e.FetchAtomic(1, fabric.OpSum, fabric.Uint64, 8, 1, 0); return err },
	} {
		var ours, pace time.Duration
		fine := false
		for begin := time.Now(); !fine && time.Since(begin) < patience; {
			before := median(t, rounds, echo)
			ours = median(t, rounds, op)
			pace = max(before, median(t, rounds, echo))
			fine = ours <= max(limit, times*pace)
		}
		t.Logf("%s: median %v, an echo takes %v", name, ours, pace)
		if !fine {
			t.Errorf("%s from a PE that makes no calls: median %v while an echo takes %v, at most %v or %d echoes are allowed", name, ours, pace, limit, times)
		}
	}
}

// median returns the median time of several calls of f.
func median(t *testing.T, calls int, f func() error) time.Duration {
	t.Helper()
	times := make([]time.Duration, calls)
	for i := range times {
		begin := time.Now()
		require.NoError(t, f())
		times[i] = time.Since(begin)
	}
	slices.Sort(times)
	return times[calls/2]
}

// startEcho starts a thread that blocks in read on a TCP connection and sends back what
// it read. It returns what sends a word there and polls for the answer, as operations do.
func startEcho(t *testing.T) func() error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	far, err := l.Accept()
	require.NoError(t, err)
	var fds [2]int
	for i, c := range []net.Conn{near, far} {
		f, err := c.(*net.TCPConn).File()
		require.NoError(t, err)
		require.NoError(t, c.Close())
		t.Cleanup(func() { f.Close() })
		fds[i] = int(f.Fd()) // which blocks from now on
	}
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread()
		for b := make([]byte, 8); ; {
			if n, _ := unix.Read(fds[1], b); n <= 0 {
				return
			}
			if _, err := unix.Write(fds[1], b); err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = unix.Shutdown(fds[0], unix.SHUT_RDWR)
		done.Wait()
	})
	b := make([]byte, 8)
	return func() error {
		if _, err := unix.Write(fds[0], b); err != nil {
			return err
		}
		for {
			_, _, err := unix.Recvfrom(fds[0], b, unix.MSG_DONTWAIT)
			if !errors.Is(err, unix.EAGAIN) {
				return err
			}
		}
	}
}

// TestSetWaker_RingsTheOthersDoorbell: a wait of another fabric, which says that it
// sleeps, is rung when memory is written.
func TestSetWaker_RingsTheOthersDoorbell(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			d := connected(t, provider(o, 2), 2, small)
			e := endpoint(t, d[0])
			// The waits of PE 1's own domain stand in for the other fabric's: their words are C memory.
			other := d[1]
			d[0].SetWaker(other.Sleepers(), doorbellWord(other))
			other.sleepers.Add(1)
			defer other.sleepers.Add(^uint32(0))
			for range 20 {
				bell := other.doorbell.Load()
				require.NoError(t, e.Put(0, 0, make([]byte, 8)))
				require.NoError(t, e.Quiet())
				require.NotEqual(t, bell, other.doorbell.Load())
			}
		})
	}
}

// TestHandback_WakesTheThread: a thread that stands back, here for ever, serves again
// when progress is handed back.
func TestHandback_WakesTheThread(t *testing.T) {
	p := provider(Options{}, 2)
	p.lab = lab{standby: time.Hour}
	d := connected(t, p, 2, small)
	e := endpoint(t, d[0])
	require.NoError(t, e.PutWord(1, 0, 8, 1))
	require.NoError(t, e.Quiet())
	for d[1].standing.Load() == 0 {
		d[1].Progress() // and never again
	}
	done := make(chan error)
	go func() {
		// The sleeper hands back, or PE 0's word never comes.
		done <- d[1].Wait(waitFor(1, 0, 2))
	}()
	require.NoError(t, e.PutWord(1, 0, 8, 2))
	require.NoError(t, e.Quiet())
	require.NoError(t, <-done)
}

// TestTxSize_BoundsWhatIsInFlight: no more operations are posted than were asked for.
func TestTxSize_BoundsWhatIsInFlight(t *testing.T) {
	d := connected(t, provider(Options{TxSize: 4}, 2), 2, small)
	e := endpoint(t, d[0])
	for range 1000 {
		require.NoError(t, e.Atomic(1, fabric.OpSum, fabric.Uint64, 0, 1))
		if n := e.s.inflight().Load(); n > 4 {
			t.Fatalf("%d operations are in flight on a queue of 4", n)
		}
	}
	require.NoError(t, e.Quiet())
	require.Equal(t, uint64(1000), d[1].word(0).load(8))
}

// TestQuiet_OfManyGoroutines: more quiets at once than an endpoint has epochs.
func TestQuiet_OfManyGoroutines(t *testing.T) {
	const goroutines, rounds = 200, 10
	d := connected(t, provider(Options{}, 2), 2, small)
	e := endpoint(t, d[0])
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			off := fabric.Addr(8 * g)
			for i := range uint64(rounds) {
				err := e.PutWord(1, off, 8, i+1)
				if err == nil {
					err = e.Quiet()
				}
				if err != nil {
					t.Error(err)
					return
				}
				if got := d[1].word(off).load(8); got != i+1 {
					t.Errorf("word %d is %d after quiet, want %d", g, got, i+1)
				}
			}
		})
	}
	all.Wait()
}
