// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestCores_AreTheThreads: a PE that is bound to one core has a thread that is not.
func TestCores_AreTheThreads(t *testing.T) {
	var all, one unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &all))
	if all.Count() < 2 {
		t.Skip("one core")
	}
	var cores []int
	for core := range runtime.NumCPU() * 64 {
		if core < len(all)*64 && all.IsSet(core) {
			cores = append(cores, core)
		}
	}
	before := domainThreads(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	one.Set(cores[0])
	require.NoError(t, unix.SchedSetaffinity(0, &one))
	defer func() { require.NoError(t, unix.SchedSetaffinity(0, &all)) }()

	o := tested[0]
	o.Cores = cores
	connected(t, New(o), 1, small)
	var now unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &now))
	require.Equal(t, one, now, "the thread that has started it keeps its own")
	found := 0
	for tid := range domainThreads(t) {
		if !before[tid] {
			found++
			require.NoError(t, unix.SchedGetaffinity(tid, &now))
			require.Equal(t, all, now)
		}
	}
	require.Equal(t, 1, found)
}

// domainThreads returns the numbers of the domains' threads.
func domainThreads(t *testing.T) map[int]bool {
	t.Helper()
	names, err := filepath.Glob("/proc/self/task/*/comm")
	require.NoError(t, err)
	found := map[int]bool{}
	for _, name := range names {
		comm, err := os.ReadFile(name)
		if err == nil && strings.TrimSpace(string(comm)) == "goshmem-ofi" {
			tid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			require.NoError(t, err)
			found[tid] = true
		}
	}
	return found
}
