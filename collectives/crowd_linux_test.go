// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/internal/spin"
	"github.com/goshmem/goshmem/symheap"
)

// A wait gives way to members on its own core that have yet to come, and to no others.
func TestGroup_LateAreThoseOnTheSameCore(t *testing.T) {
	if race.Enabled || spin.Core() == 0 {
		t.Skip("needs direct stores, and a processor that tells the core")
	}
	const n = 3
	file, err := segment.CreateFile(segment.Layout{PEs: n, NPEs: n, Size: 1 << 20, Cores: 1})
	require.NoError(t, err)
	defer file.Close()
	var gs [n]*Group
	for i := range gs {
		d, err := shm.New(file).Open(fabric.Job{PE: i, NPEs: n})
		require.NoError(t, err)
		defer d.Close()
		ep, err := d.Endpoint()
		require.NoError(t, err)
		gs[i] = New(symheap.NewWindow(d, ep, i, n), 0, true, Choices{}, nil, func() string { return "" })
	}
	stayOnCore(t)
	late := func(first, n int) bool { return gs[0].late(first, n) }
	gs[0].next(Call{Kind: KindSyncAll})
	require.False(t, late(0, n), "no other was seen on this core")
	gs[1].next(Call{Kind: KindSyncAll})
	require.False(t, late(0, n), "PE 1 is on this core, and has come")
	gs[0].next(Call{Kind: KindSyncAll})
	require.True(t, late(0, n), "PE 1 is on this core, and one call behind")
	require.False(t, late(2, 1), "PE 2 was never seen")
	gs[1].next(Call{Kind: KindSyncAll})
	require.False(t, late(0, n), "PE 1 has come again")
}

// stayOnCore keeps the test on one core.
func stayOnCore(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	var all, one unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &all))
	core := 0
	for !all.IsSet(core) {
		core++
	}
	one.Set(core)
	require.NoError(t, unix.SchedSetaffinity(0, &one))
	t.Cleanup(func() { require.NoError(t, unix.SchedSetaffinity(0, &all)) })
}
