// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
)

// TestAllocated_PopulatesWhatItRegisters: a provider that has the pages' addresses gets
// pages; for others none is made that nobody has touched.
func TestAllocated_PopulatesWhatItRegisters(t *testing.T) {
	const pages = 256
	for _, allocated := range []bool{false, true} {
		fd, err := unix.MemfdCreate("segment", unix.MFD_CLOEXEC)
		require.NoError(t, err)
		require.NoError(t, unix.Ftruncate(fd, pages*pageSize))
		segment, err := unix.Mmap(fd, 0, pages*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, unix.Munmap(segment))
			require.NoError(t, unix.Close(fd))
		})
		d, err := New(Options{Allocated: allocated}).Open(fabric.Job{NPEs: 1, SegmentSize: pages * pageSize})
		require.NoError(t, err)
		blob, err := d.Register(segment)
		require.NoError(t, err)
		connect(t, []*Domain{d.(*Domain)}, [][]byte{blob})
		require.Equal(t, allocated, d.(*Domain).Allocated())
		want := int64(0)
		if allocated {
			want = pages
		}
		var file unix.Stat_t
		require.NoError(t, unix.Fstat(fd, &file))
		require.Equal(t, want, file.Blocks*512/pageSize)
		require.True(t, bytes.Equal(make([]byte, len(segment)), segment))
	}
}
