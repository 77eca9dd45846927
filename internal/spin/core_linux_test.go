// SPDX-License-Identifier: BSD-3-Clause

package spin

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A thread that may run on one core only is told that core.
func TestCore_IsThatOfTheThread(t *testing.T) {
	if Core() == 0 {
		t.Skip("nothing tells the core here")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &all))
	defer func() { require.NoError(t, unix.SchedSetaffinity(0, &all)) }()
	for core := range 64 {
		if !all.IsSet(core) {
			continue
		}
		var one unix.CPUSet
		one.Set(core)
		require.NoError(t, unix.SchedSetaffinity(0, &one))
		require.EqualValues(t, core+1, Core())
	}
}
