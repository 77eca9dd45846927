// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asleepOnSockets returns connected domains whose threads sleep on the provider's sockets.
func asleepOnSockets(t *testing.T) []*Domain {
	t.Helper()
	p := provider(Options{Provider: "tcp;ofi_rxm"}, 2)
	p.lab = lab{sleep: sleepOnSockets}
	return connected(t, p, 2, small)
}

// tasks returns the status files of this process's threads.
func tasks(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/self/task/*/status")
	require.NoError(t, err)
	return names
}

// looks returns how often domains' threads have gone to sleep, but for the others.
func looks(t *testing.T, others []string) (n int) {
	t.Helper()
	for _, name := range tasks(t) {
		if slices.Contains(others, name) {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			continue // the thread has ended
		}
		thread, slept := "", 0
		for s := bufio.NewScanner(f); s.Scan(); {
			if rest, ok := strings.CutPrefix(s.Text(), "Name:"); ok {
				thread = strings.TrimSpace(rest)
			}
			_, _ = fmt.Sscanf(s.Text(), "voluntary_ctxt_switches: %d", &slept)
		}
		f.Close()
		if thread == "goshmem-ofi" {
			n += slept
		}
	}
	return n
}

// TestSockets_ThreadServes: a PE that makes no calls is served, from the first operation on,
// which makes the connection, and soon.
func TestSockets_ThreadServes(t *testing.T) {
	d := asleepOnSockets(t)
	e := endpoint(t, d[0])
	begin := time.Now()
	require.NoError(t, e.PutWord(1, 0, 8, 1))
	require.NoError(t, e.Quiet())
	require.Less(t, time.Since(begin), 5*time.Second)
	best := time.Hour
	for i := range uint64(200) {
		begin := time.Now()
		require.NoError(t, e.PutWord(1, 0, 8, i))
		require.NoError(t, e.Quiet())
		best = min(best, time.Since(begin))
	}
	// A thread that did not see the socket would look for it again after milliseconds.
	require.Less(t, best, 500*time.Microsecond)
}

// TestSockets_OthersAreLeftAlone: what comes in on a program's own connections
// does not wake the thread, and none is closed or read.
func TestSockets_OthersAreLeftAlone(t *testing.T) {
	others := tasks(t) // such as those of domains whose jobs were aborted
	d := asleepOnSockets(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer out.Close()
	in, err := l.Accept()
	require.NoError(t, err)
	defer in.Close()
	e := endpoint(t, d[0])
	require.NoError(t, e.PutWord(1, 0, 8, 1)) // sockets are looked for
	require.NoError(t, e.Quiet())

	const messages = 5000
	before, b := looks(t, others), make([]byte, 8)
	begin := time.Now()
	for range messages {
		_, err := out.Write(b)
		require.NoError(t, err)
		n, err := in.Read(b)
		require.NoError(t, err)
		require.Equal(t, len(b), n)
	}
	// Two threads look each 100 ms, and some ten times more often at first.
	most := 40 + 20*int(time.Since(begin)/(100*time.Millisecond))
	require.Less(t, looks(t, others)-before, most, "%d messages went by", messages)
}
