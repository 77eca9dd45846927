// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Go's scheduler takes a call into C for one that blocks. A goroutine that makes
// such calls for more than 10 ms without giving way loses its processor every 20 µs from
// then on, while a thread of the runtime keeps looking for that (runtime.retake). One
// that gives way in time, and whose calls are short, is left alone. With a single
// processor it loses that in any call that is found under way twice, and another thread
// starts to look for work.
const (
	// crossing is how long a call polls. What takes longer is polled for by more calls.
	crossing = 40 * time.Microsecond

	// turnTime is how long a goroutine polls or posts before it gives way. Not every time: if a
	// processor is idle, giving way wakes a thread.
	turnTime = 3 * time.Millisecond

	// turnCalls is how many calls are made before the clock is looked at.
	turnCalls = 32
)

// turns counts the calls into C of the goroutines of an endpoint, or of those that
// wait.
type turns struct {
	begin time.Time // arbitrary
	calls atomic.Uint32
	last  atomic.Int64 // nanoseconds since begin, of the last time that one gave way
}

// call counts a call, and gives way if it is time.
func (t *turns) call() {
	if t.calls.Add(1)%turnCalls != 0 {
		return
	}
	if now := int64(time.Since(t.begin)); now-t.last.Load() > int64(turnTime) {
		t.last.Store(now)
		runtime.Gosched()
	}
}
