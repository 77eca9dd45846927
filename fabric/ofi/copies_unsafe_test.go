// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// hidden returns b so that the compiler leaves what is behind it on the stack, as package
// shmem does for blocking operations.
//
//go:nosplit
//go:nocheckptr
func hidden(b []byte) []byte {
	// The same memory, which the caller keeps on its stack.
	return unsafe.Slice((*byte)(unsafe.Add(nil, uintptr(unsafe.Pointer(unsafe.SliceData(b))))), len(b))
}

const onStack = 40 << 10 // more than a bounce buffer has

// TestBlocking_SurvivesMovesOfTheStack: PE 1 stands still while a buffer's stack shrinks.
func TestBlocking_SurvivesMovesOfTheStack(t *testing.T) {
	p := startPeer(t, Options{Provider: "tcp;ofi_rxm"}, "serve")
	e := endpoint(t, p.domain)
	want, ballast := pattern(onStack, 3), make([]byte, 1<<20-64)
	s := fabric.Strides{Block: 8, Blocks: 64, Dst: 24, Src: 16}
	wide := fabric.Strides{Block: 5000, Blocks: 6, Dst: 6000, Src: 6000}
	for _, c := range []struct {
		name string
		do   func(buf []byte) error
		get  bool
		size int
		used func(i int) bool // whether the operation moves byte i; nil: all
	}{
		{"get", func(b []byte) error { return e.Get(1, b, 0) }, true, 64, nil},
		{"long get", func(b []byte) error { return e.Get(1, b, 0) }, true, onStack, nil},
		{"strided get", func(b []byte) error {
			return e.GetStrided(1, b, 0, fabric.Strides{Block: s.Block, Blocks: s.Blocks, Dst: s.Dst, Src: s.Dst})
		}, true, 64 * 24, func(i int) bool { return i%24 < 8 }},
		{"long put", func(b []byte) error { return e.Put(1, 0, b) }, false, onStack, nil},
		{"strided put", func(b []byte) error { return e.PutStrided(1, 0, b, wide) }, false, 6 * 6000, func(i int) bool { return i%6000 < 5000 }},
		{"put with a signal added", func(b []byte) error { return e.PutSignal(1, 0, b, peerSegment-64, fabric.OpSum, 1) }, false, 1000, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, e.Put(1, 0, make([]byte, onStack)))
			require.NoError(t, e.Quiet())
			if c.get {
				require.NoError(t, e.Put(1, 0, want))
				require.NoError(t, e.Quiet())
			}
			leader := make(chan error, 1) // another one waits asleep: this one will park
			go func() { leader <- p.domain.Wait(waitFor(0, 64, 1)) }()
			untilParked(p.domain, 1)
			p.stop(t)
			for range 8 { // more than the connection takes in: what follows waits here
				require.NoError(t, e.PutNBI(1, 1<<20, ballast))
			}
			got, ended := make([]byte, c.size), make(chan error, 1)
			go func() {
				deep(200)
				ended <- onTheStack(c.do, want[:c.size], got, c.get)
			}()
			untilParked(p.domain, 2)
			runtime.GC() // shrinks the stack, and
			scribble()   // others use what it was
			p.resume(t)
			require.NoError(t, <-ended)
			if !c.get {
				require.NoError(t, e.Quiet())
				require.NoError(t, e.Get(1, got, 0))
			}
			p.domain.word(64).add(8, 0, 1)
			p.domain.Wake(0)
			require.NoError(t, <-leader)
			p.domain.word(64).add(8, 0, ^uint64(0))
			for i := range got {
				if (c.used == nil || c.used(i)) && got[i] != want[i] {
					t.Fatalf("byte %d of %d is %#x, want %#x", i, len(got), got[i], want[i])
				}
			}
		})
	}
}

// onTheStack calls do with a buffer on the stack, and copies it to got if do fills it.
//
//go:noinline
func onTheStack(do func([]byte) error, want, got []byte, get bool) error {
	var array [onStack]byte
	if !get {
		copy(array[:], want)
	}
	err := do(hidden(array[:len(want)]))
	if get {
		copy(got, array[:])
	}
	return err
}

// scribble makes stacks of several sizes, and writes to all of them.
func scribble() {
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() { fillStack(i % 20) })
	}
	all.Wait()
}

//go:noinline
func fillStack(n int) byte {
	var room [16 << 10]byte
	for i := range room {
		room[i] = 0xaa
	}
	if n > 0 {
		room[n] = fillStack(n - 1)
	}
	return room[n]
}

// untilParked returns once n goroutines wait.
func untilParked(d *Domain, n int) {
	for waiting := 0; waiting < n; runtime.Gosched() {
		d.waits.mu.Lock()
		waiting = len(d.waits.parked)
		d.waits.mu.Unlock()
	}
}
