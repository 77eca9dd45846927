// SPDX-License-Identifier: BSD-3-Clause

package shm_test

import (
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/fabrictest"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/internal/segment"
)

// open opens n domains on one file, as n processes would.
func open(t *testing.T, n int, size uintptr) []fabric.Domain {
	t.Helper()
	return openOn(t, n, size, n) // as many cores as PEs: waits spin
}

func openOn(t *testing.T, n int, size uintptr, cores int) []fabric.Domain {
	t.Helper()
	l := segment.Layout{PEs: n, NPEs: n, Size: size, Cores: cores}
	file, err := segment.CreateFile(l)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ds := make([]fabric.Domain, n)
	for i := range ds {
		if ds[i], err = shm.New(file).Open(fabric.Job{PE: i, NPEs: n, SegmentSize: size}); err != nil {
			t.Fatal(err)
		}
	}
	return ds
}

func TestShm_Conforms(t *testing.T) {
	fabrictest.Run(t, open, fabrictest.Rows(true, !race.Enabled))
}

func TestShm_ConformsWhenCrowded(t *testing.T) {
	fabrictest.Run(t, func(t *testing.T, n int, size uintptr) []fabric.Domain {
		t.Helper()
		return openOn(t, n, size, 1)
	}, fabrictest.Rows(true, !race.Enabled))
}

// TestWait_SleepsUntilItIsRung: with naps of a minute, only rings end the sleeps.
func TestWait_SleepsUntilItIsRung(t *testing.T) {
	ds := open(t, 2, segment.Granule)
	shm.SetNap(ds[1], time.Minute)
	ep, err := ds[0].Endpoint()
	if err != nil {
		t.Fatal(err)
	}
	const off = 4096
	begin := time.Now()
	for i := range uint64(50) {
		done := make(chan error, 1)
		go func() {
			done <- ds[1].Wait(fabric.Cond{PE: 1, Off: off, Type: fabric.Uint64, Cmp: fabric.CmpGT, Value: i})
		}()
		for atomic.LoadUint32(ds[0].Sleepers()) == 0 {
			runtime.Gosched()
		}
		if err := ep.PutWord(1, off, 8, i+1); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(begin); d >= time.Minute {
		t.Errorf("50 sleeps took %v: some ended by themselves", d)
	}
}

// TestWaitTurn_EndsWhenTheWordIsThere: rings before that end no wait.
func TestWaitTurn_EndsWhenTheWordIsThere(t *testing.T) {
	for _, cores := range []int{1, 2} {
		ds := openOn(t, 2, segment.Granule, cores)
		turn := ds[0].(fabric.Turner).Turn(1)
		for want := uint64(2); want <= 100; want += 2 {
			done := make(chan error, 1)
			go func() { done <- ds[1].(fabric.Turner).WaitTurn(want) }()
			for range 20 {
				runtime.Gosched()
				ds[0].Wake(1)
			}
			turn.Add(1)
			ds[0].Wake(1)
			select {
			case err := <-done:
				t.Fatalf("%d cores: the wait for %d ended at %d (%v)", cores, want, want-1, err)
			default:
			}
			turn.Add(1)
			ds[0].Wake(1)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if other := ds[1].(fabric.Turner).Turn(0).Load(); other != 0 {
			t.Errorf("%d cores: the other PE's word is %d, want 0", cores, other)
		}
	}
}

// TestWait_LetsOthersRun: with one processor, a wait on a shared core, which keeps it for a
// while, holds up neither timers, nor other goroutines, nor garbage collection for long.
func TestWait_LetsOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ds := openOn(t, 2, segment.Granule, 1)
	ep, err := ds[0].Endpoint()
	if err != nil {
		t.Fatal(err)
	}
	const rounds, off = 20, 4096
	done := make(chan error, 1)
	begin := time.Now()
	for i := range uint64(rounds) {
		go func() {
			done <- ds[1].Wait(fabric.Cond{PE: 1, Off: off, Type: fabric.Uint64, Cmp: fabric.CmpGT, Value: i, Long: true})
		}()
		for atomic.LoadUint32(ds[0].Sleepers()) == 0 {
			runtime.Gosched()
		}
		<-time.After(time.Microsecond)
		runtime.GC()
		if err := ep.PutWord(1, off, 8, i+1); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	// Each round would last as long as all naps of a wait, if they let nobody run.
	if each, d := time.Since(begin)/rounds, 10*5*time.Millisecond; each >= d {
		t.Errorf("a round took %v, want less than %v", each, d)
	}
}

func TestCommit_ReadsAsZeroAfterRelease(t *testing.T) {
	ds := open(t, 1, 1<<20)
	c := ds[0].(fabric.Committer)
	const off, size = 4096 - 64, 5*4096 + 100
	if err := c.Commit(off, size); err != nil {
		t.Fatal(err)
	}
	mem := ds[0].Map(0)
	for i := range mem {
		mem[i] = 0xa5
	}
	if err := c.Release(off, size); err != nil {
		t.Fatal(err)
	}
	for i, b := range mem {
		if want := byte(0xa5); i >= off && i < off+size {
			if b != 0 {
				t.Fatalf("byte %d of a released range reads %#x", i, b)
			}
		} else if b != want {
			t.Fatalf("byte %d outside of the released range reads %#x, want %#x", i, b, want)
		}
	}
}

func TestRelease_GivesPagesBack(t *testing.T) {
	l := segment.Layout{PEs: 1, NPEs: 1, Size: 64 << 20, Cores: 1}
	file, err := segment.CreateFile(l)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d, err := shm.New(file).Open(fabric.Job{NPEs: 1})
	if err != nil {
		t.Fatal(err)
	}
	before := blocks(t, file)
	c := d.(fabric.Committer)
	if err := c.Commit(1<<20, 32<<20); err != nil {
		t.Fatal(err)
	}
	if got := blocks(t, file) - before; got < 32<<20 {
		t.Errorf("commit of 32 MiB took %d bytes of memory", got)
	}
	if err := c.Release(1<<20, 32<<20); err != nil {
		t.Fatal(err)
	}
	if got := blocks(t, file) - before; got > 1<<20 {
		t.Errorf("%d bytes are still there after the release of 32 MiB", got)
	}
}

func TestOpen_RefusesForeignFiles(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := shm.New(file).Open(fabric.Job{NPEs: 1}); err == nil {
		t.Error("an empty file was taken for a segment file")
	}
	l := segment.Layout{PEs: 2, NPEs: 2, Size: segment.Granule, Cores: 1}
	if _, err := file.Write(l.Header()); err != nil {
		t.Fatal(err)
	}
	if _, err := shm.New(file).Open(fabric.Job{NPEs: 2}); err == nil {
		t.Error("a file without its segments was taken")
	}
}

// blocks returns the memory that a file occupies, in bytes.
func blocks(t *testing.T, file *os.File) int64 {
	t.Helper()
	st, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return st.Sys().(*syscall.Stat_t).Blocks * 512
}

// TestNaps_StayLongAndBounded: a wait of hours sleeps as one of seconds does.
func TestNaps_StayLongAndBounded(t *testing.T) {
	last := time.Duration(0)
	for n := range 200 {
		nap := shm.NapAfter(n)
		if nap < last || nap <= 0 || nap > time.Second {
			t.Fatalf("nap %d lasts %v, the one before %v", n, nap, last)
		}
		last = nap
	}
}
