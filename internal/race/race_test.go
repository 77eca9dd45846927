// SPDX-License-Identifier: BSD-3-Clause

package race_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goshmem/goshmem/internal/race"
)

// handover writes a word on one goroutine and reads it on another, which waits
// on a flag that the detector does not see.
func handover(release, acquire func()) int {
	data := new(int)
	var flag atomic.Bool
	go func() {
		*data = 1
		release()
		race.Disable()
		flag.Store(true)
		race.Enable()
	}()
	race.Disable()
	for !flag.Load() {
		runtime.Gosched()
	}
	race.Enable()
	acquire()
	return *data
}

// locked does so under a [race.Mutex].
func locked(release, acquire func()) int {
	data := new(int)
	var mu race.Mutex
	done := make(chan struct{})
	go func() {
		mu.Lock()
		*data = 1
		release()
		mu.Unlock()
		race.Disable()
		close(done)
		race.Enable()
	}()
	race.Disable()
	<-done
	race.Enable()
	mu.Lock()
	defer mu.Unlock()
	acquire()
	return *data
}

func TestTokensOrder(t *testing.T) {
	token, tokens, word := new(race.Token), new(race.Tokens), new([16]byte)
	nothing := func() {}
	if got := handover(token.Release, token.Acquire); got != 1 {
		t.Errorf("token: read %d, want 1", got)
	}
	if got := locked(token.Release, token.Acquire); got != 1 {
		t.Errorf("mutex and token: read %d, want 1", got)
	}
	if got := handover(func() { tokens.Release(40) }, func() { tokens.Acquire(44) }); got != 1 {
		t.Errorf("tokens: read %d, want 1", got)
	}
	if got := handover(func() { race.Release(&word[3]) }, func() { race.Acquire(&word[3]) }); got != 1 {
		t.Errorf("word: read %d, want 1", got)
	}

	if !race.Enabled {
		return
	}
	// The same without the tokens must be reported, or the above shows nothing.
	programs := map[string]func() int{
		"no token":    func() int { return handover(nothing, nothing) },
		"mutex alone": func() int { return locked(nothing, nothing) },
		"other token": func() int { return handover(token.Release, new(race.Token).Acquire) },
		"other word":  func() int { return handover(func() { tokens.Release(40) }, func() { tokens.Acquire(48) }) },
	}
	const env = "GOSHMEM_TEST_RACE_PROGRAM"
	if name := os.Getenv(env); name != "" {
		programs[name]()
		return
	}
	for name := range programs {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTokensOrder$", "-test.count=1")
		cmd.Env = append(os.Environ(), env+"="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "WARNING: DATA RACE") {
			t.Errorf("%s: no race reported (%v):\n%s", name, err, out)
		}
	}
}
