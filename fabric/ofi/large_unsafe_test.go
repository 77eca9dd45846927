// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

const window = 64 << 20 // bytes of memory behind a large mapping

// large maps size bytes, window after window the same memory.
func large(t testing.TB, size int) []byte {
	t.Helper()
	fd, err := unix.MemfdCreate("large", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, window))
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Munmap(mem) })
	for off := 0; off < size; off += window {
		// In bounds: size is a multiple of window; each call replaces pages of the mapping above.
		_, err := unix.MmapPtr(fd, 0, unsafe.Pointer(&mem[off]), window, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
		require.NoError(t, err)
	}
	return mem
}

// connectedLarge returns PE 0's endpoint and PE 1's segment.
func connectedLarge(t testing.TB, segment int) (*Endpoint, []byte) {
	t.Helper()
	d := openAll(t, provider(Options{}, 2), 2, uintptr(segment))
	memories := [][]byte{large(t, segment), large(t, segment)}
	connect(t, d, register(t, d, func(pe int) []byte { return memories[pe] }))
	return endpoint(t, d[0]), memories[1]
}

// TestLarge_Offsets: offsets and distances that no 32 bits hold. Windows show through each other, so
// each block goes to a place of its own in its window.
func TestLarge_Offsets(t *testing.T) {
	const segment, block, blocks, apart = 8 << 30, 40, 7, 1<<30 + 4096
	e, there := connectedLarge(t, segment)
	src := make([]byte, blocks*block)
	fill(src, 1)
	require.NoError(t, e.PutStrided(1, 512, src, fabric.Strides{Block: block, Blocks: blocks, Dst: apart, Src: block}))
	require.NoError(t, e.Quiet())
	got := make([]byte, len(src))
	require.NoError(t, e.GetStrided(1, got, 512, fabric.Strides{Block: block, Blocks: blocks, Dst: block, Src: apart}))
	require.Equal(t, src, got)
	for i := range blocks {
		require.Equal(t, src[i*block:][:block], there[512+i*4096:][:block], "block %d, by way of the first window", i)
	}
	require.NoError(t, e.PutWord(1, segment-8, 8, 42))
	require.NoError(t, e.Fence())
	word, err := e.FetchAtomic(1, fabric.OpSum, fabric.Uint64, segment-8, 1, 0)
	require.NoError(t, err)
	require.Equal(t, uint64(42), word)
	require.NoError(t, e.Put(1, segment-block, src[:block]))
	require.NoError(t, e.Get(1, got[:block], 5<<30))
	require.NoError(t, e.Quiet())
	require.Equal(t, src[:block], there[window-block:window])
}

// TestLarge_3GiB: one call for more bytes than a message takes, and than 31 bits count.
func TestLarge_3GiB(t *testing.T) {
	const segment, size, off, need = 8 << 30, 3 << 30, 9 << 29, 8 << 20 // KiB
	if race.Enabled {
		t.Skip("it would only take longer: C does all of it")
	}
	if free := available(t); free < need {
		t.Skipf("%d KiB of memory are available, %d are needed", free, need)
	}
	memories := [][]byte{huge(t, segment), huge(t, segment)}
	d := openAll(t, provider(Options{}, 2), 2, segment)
	connect(t, d, register(t, d, func(pe int) []byte { return memories[pe] }))
	e, there, src := endpoint(t, d[0]), memories[1], huge(t, size)
	marks := []int{0, 4096, 1<<30 - 4096, 1 << 30, 2<<30 - 4096, 2 << 30, size - 4096}
	for i, at := range marks {
		fill(src[at:][:4096], i)
	}
	require.NoError(t, e.Put(1, off, src))
	require.NoError(t, e.Quiet())
	for i, at := range marks {
		require.Equal(t, pattern(4096, i), there[off+at:][:4096], "at %d", at)
		fill(there[off+at:][:4096], 100+i)
	}
	require.NoError(t, e.Get(1, src, off))
	for i, at := range marks {
		require.Equal(t, pattern(4096, 100+i), src[at:][:4096], "at %d", at)
	}
	require.Zero(t, there[off-1])
	require.Zero(t, there[off+size])
}

// huge maps size bytes, of large pages if there are any: small ones take half a minute.
func huge(t testing.TB, size int) []byte {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Munmap(mem) })
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // it is slower without
	return mem
}

// available returns how much memory there is in KiB.
func available(t testing.TB) int {
	t.Helper()
	info, err := os.ReadFile("/proc/meminfo")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(info), "MemAvailable:")
	var n int
	_, err = fmt.Sscan(rest, &n)
	require.NoError(t, err)
	return n
}
