// SPDX-License-Identifier: BSD-3-Clause

package frames_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/internal/frames"
)

// name returns the function of a return address.
func name(pc uintptr) string {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return f.Function
}

//go:noinline
func inner() (pcs [frames.Depth]uintptr) {
	frames.Record(&pcs)
	return pcs
}

//go:noinline
func outer() [frames.Depth]uintptr { return inner() }

func TestRecord_CallersFromTheInside(t *testing.T) {
	pcs := outer()
	for i, want := range []string{"outer", "TestRecord_CallersFromTheInside", "tRunner"} {
		if got := name(pcs[i]); !strings.HasSuffix(got, want) {
			t.Errorf("caller %d is %q, want %s", i, got, want)
		}
	}
}

func TestRecord_EndsWithTheGoroutine(t *testing.T) {
	done := make(chan [frames.Depth]uintptr)
	go func() { done <- inner() }()
	if pcs := <-done; !strings.Contains(name(pcs[0]), "EndsWithTheGoroutine") || pcs[frames.Depth-1] != 0 {
		t.Errorf("got %v (%s first), want this goroutine's function, and zeroes at the end", pcs, name(pcs[0]))
	}
}
