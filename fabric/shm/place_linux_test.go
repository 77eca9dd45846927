// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/segment"
)

// A PE moves if its core has more than its share of the PEs, another has at least two
// fewer, and it is the first on its own.
func TestPlace_MovesOneToTheEmptiestCore(t *testing.T) {
	for _, tt := range []struct {
		name   string
		on     []uint32 // of each PE; 0: never seen
		asleep []int
		cores  []int // that PE 0 may use; the node has two
		want   int   // -1: it stays
	}{
		{"even", []uint32{1, 1, 2, 2}, nil, []int{0, 1}, -1},
		{"three and one", []uint32{1, 1, 1, 2}, nil, []int{0, 1}, 1},
		{"four and none", []uint32{2, 2, 2, 2}, nil, []int{0, 1}, 0},
		{"five and three", []uint32{1, 2, 1, 2, 1, 2, 1, 1}, nil, []int{0, 1}, 1},
		{"odd", []uint32{1, 1, 2}, nil, []int{0, 1}, -1},
		{"on the emptier core", []uint32{2, 1, 1, 1}, nil, []int{0, 1}, -1},
		{"bound", []uint32{1, 1, 1, 2}, nil, []int{0}, -1},
		{"two sleep", []uint32{1, 1, 1, 2}, []int{1, 2}, []int{0, 1}, -1},
		{"not yet seen", []uint32{1, 0, 0, 0}, nil, []int{0, 1}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := openCrowded(t, len(tt.on))
			for i, core := range tt.on {
				d.ctl.Status(i).Core.Store(core)
			}
			for _, i := range tt.asleep {
				d.ctl.Status(i).Sleeping.Store(segment.SleepAny)
			}
			var cores unix.CPUSet
			for _, core := range tt.cores {
				cores.Set(core)
			}
			got := -1
			if d.overfull() {
				if core, found := d.emptier(&cores); found {
					got = core
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// Of those on one core only the first moves.
func TestPlace_OthersStay(t *testing.T) {
	d := openCrowded(t, 4)
	d.me, d.status = 1, d.ctl.Status(1)
	for i, core := range []uint32{1, 1, 1, 2} {
		d.ctl.Status(i).Core.Store(core)
	}
	require.False(t, d.overfull())
	d.ctl.Status(0).Sleeping.Store(segment.SleepAny)
	require.False(t, d.overfull(), "two and one")
}

// Who has been found to lie badly looks less and less often.
func TestPlace_LooksLaterAfterMoves(t *testing.T) {
	d := openCrowded(t, 2)
	d.place.moves.Store(3)
	d.giveWay()
	require.EqualValues(t, 1+firstLook<<3, d.place.look.Load())
	d.giveWay()
	require.EqualValues(t, 1+firstLook<<3, d.place.look.Load(), "not before its time")
}

// openCrowded opens PE 0's domain of n PEs on two cores.
func openCrowded(t *testing.T, n int) *Domain {
	t.Helper()
	file, err := segment.CreateFile(segment.Layout{PEs: n, NPEs: n, Size: segment.Granule, Cores: 2})
	require.NoError(t, err)
	defer file.Close()
	d, err := New(file).Open(fabric.Job{NPEs: n})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	dom := d.(*Domain)
	dom.policy.crowded = true
	return dom
}
