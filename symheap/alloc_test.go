// SPDX-License-Identifier: BSD-3-Clause

package symheap

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

const (
	testBase = 64 << 10
	testSize = 1 << 20
)

// mustAlloc makes an object in a heap that has room for it.
func mustAlloc(t *testing.T, h *Heap, size, align uintptr) uintptr {
	t.Helper()
	off, err := h.Alloc(size, align)
	if err != nil {
		t.Fatalf("Alloc(%d, %d): %v", size, align, err)
	}
	return off
}

func TestAlloc_Places(t *testing.T) {
	type object struct{ size, align, off, extent uintptr }
	tests := []struct {
		name    string
		objects []object
	}{
		{"objects fill whole lines", []object{
			{1, 1, testBase, 64},
			{64, 8, testBase + 64, 64},
			{65, 8, testBase + 128, 128},
			{1, 1, testBase + 256, 64},
		}},
		{"an empty object has an offset of its own", []object{
			{0, 1, testBase, 64},
			{0, 1, testBase + 64, 64},
		}},
		{"large objects fill whole pages", []object{
			{8, 8, testBase, 64},
			{65536, 8, testBase + 4096, 65536},
			{65537, 8, testBase + 4096 + 65536, 69632},
			{65535, 8, testBase + 4096 + 65536 + 69632, 65536},
		}},
		{"small objects fill the gap before a page", []object{
			{8, 8, testBase, 64},
			{65536, 8, testBase + 4096, 65536},
			{4096 - 64, 8, testBase + 64, 4096 - 64},
			{8, 8, testBase + 4096 + 65536, 64},
		}},
		{"alignment above the object's own", []object{
			{8, 8, testBase, 64},
			{8, 256, testBase + 256, 64},
			{8, 1 << 17, 1 << 17, 64},
			{8, 8, testBase + 64, 64},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := New(testBase, testSize)
			for i, o := range tt.objects {
				off := mustAlloc(t, h, o.size, o.align)
				extent, ok := h.Size(off)
				if off != o.off || extent != o.extent || !ok {
					t.Errorf("object %d, Alloc(%d, %d): %d bytes at %#x, %v; want %d bytes at %#x",
						i, o.size, o.align, extent, off, ok, o.extent, o.off)
				}
			}
		})
	}
}

func TestAlloc_RefusesBadAlignment(t *testing.T) {
	h := New(testBase, testSize)
	for _, align := range []uintptr{0, 3, 100, 4097, ^uintptr(0)} {
		off, err := h.Alloc(8, align)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(align)) {
			t.Errorf("Alloc(8, %d) = %#x, %v; want an error that names the alignment", align, off, err)
		}
		var oom *OutOfMemoryError
		if errors.As(err, &oom) {
			t.Errorf("Alloc(8, %d) says out of memory: %v", align, err)
		}
	}
	if inUse, _, _, objects := h.Stats(); inUse != 0 || objects != 0 {
		t.Errorf("refused objects left %d bytes in %d objects", inUse, objects)
	}
}

func TestAlloc_OutOfMemory(t *testing.T) {
	const (
		line   = 64
		vacant = testSize - 65536 - line
	)
	tests := []struct {
		name        string
		size, align uintptr
		text        string
	}{
		{"larger than the heap", testSize + 1, 8, "need 1048577 bytes (1 MiB) aligned to 4 KiB; of the heap's 1 MiB, 982976 bytes (959.9 KiB) are free, at most 982976 bytes (959.9 KiB) in one piece"},
		{"largest of all", ^uintptr(0), 8, "aligned to 4 KiB"},
		{"rounding overflows", ^uintptr(0) - 4096, 8, "aligned to 4 KiB"},
		{"alignment beyond the heap", 8, 1 << 30, "need 8 bytes aligned to 1 GiB"},
		{"highest alignment", 8, 1 << 31, "need 8 bytes aligned to 2 GiB"},
		{"only its pages do not fit", vacant, 1, "need 982976 bytes (959.9 KiB)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := New(testBase, testSize)
			mustAlloc(t, h, 65536-line, 8)
			mustAlloc(t, h, line, 8)
			mustAlloc(t, h, line, 8)
			off, err := h.Alloc(tt.size, tt.align)
			var oom *OutOfMemoryError
			if !errors.As(err, &oom) {
				t.Fatalf("Alloc(%d, %d) = %#x, %v; want an OutOfMemoryError", tt.size, tt.align, off, err)
			}
			if oom.Need != tt.size || oom.Size != testSize || oom.Free != vacant || oom.Largest != vacant {
				t.Errorf("got %#v", oom)
			}
			for _, want := range []string{tt.text, "gorun --heap", "SHMEM_SYMMETRIC_SIZE"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestAlloc_TextOfSizes(t *testing.T) {
	tests := []struct {
		size uintptr
		want string
	}{
		{0, "0 bytes"},
		{64, "64 bytes"},
		{1023, "1023 bytes"},
		{1024, "1 KiB"},
		{1536, "1536 bytes (1.5 KiB)"},
		{960 << 10, "960 KiB"},
		{256 << 20, "256 MiB"},
		{256<<20 + 1, "268435457 bytes (256 MiB)"},
		{3 << 29, "1610612736 bytes (1.5 GiB)"},
	}
	for _, tt := range tests {
		if got := sizeText(tt.size); got != tt.want {
			t.Errorf("sizeText(%d) = %q, want %q", tt.size, got, tt.want)
		}
	}
}

func TestFree_Errors(t *testing.T) {
	h := New(testBase, testSize)
	a := mustAlloc(t, h, 200, 8)
	b := mustAlloc(t, h, 8, 8)
	if err := h.Free(b); err != nil {
		t.Fatalf("Free(%#x): %v", b, err)
	}
	for _, off := range []uintptr{b, 0, a + 1, a + 64, a + 200, testBase + testSize, ^uintptr(0)} {
		err := h.Free(off)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%#x", off)) {
			t.Errorf("Free(%#x) = %v, want an error that names the offset", off, err)
		}
	}
	if inUse, _, _, objects := h.Stats(); inUse != 256 || objects != 1 {
		t.Errorf("after refused frees, %d bytes in %d objects; want 256 in 1", inUse, objects)
	}
}

func TestFree_MergesWithBothSides(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		c := newChecked(t, testBase, testSize)
		var offs []uintptr
		for range 3 {
			off, _ := c.alloc(1000, 8)
			offs = append(offs, off)
		}
		for _, i := range order {
			c.free(offs[i])
		}
		if _, _, largest, _ := c.heap.Stats(); largest != testSize {
			t.Errorf("freed in order %v, the largest block has %d bytes, want all %d", order, largest, testSize)
		}
	}
}

func TestResize(t *testing.T) {
	tests := []struct {
		name   string
		before uintptr // size of an object in front
		old    uintptr
		behind uintptr // size of an object behind; 0: none
		size   uintptr
		ok     bool
		extent uintptr // afterwards
	}{
		{"within the line", 0, 10, 64, 60, true, 64},
		{"to nothing", 0, 1000, 64, 0, true, 64},
		{"shrink", 0, 1000, 64, 100, true, 128},
		{"shrink a large object", 0, 1 << 17, 64, 1 << 16, true, 1 << 16},
		{"shrink a large object to a small one", 0, 1 << 17, 64, 65, true, 128},
		{"grow into free memory", 0, 64, 0, 1000, true, 1024},
		{"grow to the end", 0, 64, 0, testSize, true, testSize},
		{"grow beyond the end", 0, 64, 0, testSize + 1, false, 64},
		{"grow into an object", 0, 64, 64, 65, false, 64},
		{"overflow", 0, 64, 0, ^uintptr(0), false, 64},
		{"become large on a page", 0, 64, 0, 1<<16 + 1, true, 1<<16 + 4096},
		{"become large off a page", 64, 64, 0, 1 << 16, false, 64},
		{"stay small off a page", 64, 64, 0, 1<<16 - 1, true, 1 << 16},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newChecked(t, testBase, testSize)
			if tt.before != 0 {
				c.alloc(tt.before, 1)
			}
			off, _ := c.alloc(tt.old, 1)
			if tt.behind != 0 {
				c.alloc(tt.behind, 1)
			}
			ok := c.resize(off, tt.size)
			extent, live := c.heap.Size(off)
			if ok != tt.ok || extent != tt.extent || !live {
				t.Errorf("Resize(%#x, %d) = %v with %d bytes, live %v; want %v with %d", off, tt.size, ok, extent, live, tt.ok, tt.extent)
			}
		})
	}
}

func TestResize_NeedsAnObject(t *testing.T) {
	h := New(testBase, testSize)
	off := mustAlloc(t, h, 200, 8)
	for _, wrong := range []uintptr{0, off + 64, off + 256, ^uintptr(0)} {
		if h.Resize(wrong, 8) {
			t.Errorf("Resize(%#x, 8) = true, but no object starts there", wrong)
		}
	}
}

func TestNew_ManagesWholeLines(t *testing.T) {
	tests := []struct {
		base, size uintptr
		first      uintptr // where the first object goes
		free       uintptr
	}{
		{testBase, testSize, testBase, testSize},
		{testBase, 64, testBase, 64},
		{testBase + 1, 1000, testBase + 64, 896},
		{testBase, 1000, testBase, 960},
		{0, 128, 0, 128},
		{testBase, 63, 0, 0},
		{testBase + 1, 126, 0, 0},
		{testBase, 0, 0, 0},
		{^uintptr(0), 0, 0, 0},
	}
	for _, tt := range tests {
		h := New(tt.base, tt.size)
		inUse, free, largest, objects := h.Stats()
		if inUse != 0 || free != tt.free || largest != tt.free || objects != 0 {
			t.Errorf("New(%#x, %d).Stats() = %d, %d, %d, %d; want %d bytes free in one block", tt.base, tt.size, inUse, free, largest, objects, tt.free)
		}
		off, err := h.Alloc(1, 1)
		if off != tt.first || (err == nil) != (tt.free > 0) {
			t.Errorf("New(%#x, %d).Alloc(1, 1) = %#x, %v; want %#x", tt.base, tt.size, off, err, tt.first)
		}
	}
}

func TestNew_PanicsOnOverflow(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New of a heap beyond the last offset did not panic")
		}
	}()
	New(testBase, ^uintptr(0))
}

// TestHeap_RandomCalls makes random calls on a heap, its twin and the model,
// and then frees all objects in random order: not a byte may be lost.
func TestHeap_RandomCalls(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			c := newChecked(t, testBase, testSize/4)
			size := func() uintptr {
				if rng.IntN(8) == 0 {
					return 60<<10 + uintptr(rng.Uint64N(20<<10))
				}
				return uintptr(rng.Uint64N(4 << 10))
			}
			for range 300 {
				n := len(c.objects)
				switch op := rng.IntN(10); {
				case op < 5 || n == 0:
					c.alloc(size(), 1<<rng.IntN(14))
				case op < 8:
					c.free(c.objects[rng.IntN(n)])
				default:
					c.resize(c.objects[rng.IntN(n)], size())
				}
			}
			for len(c.objects) > 0 {
				c.free(c.objects[rng.IntN(len(c.objects))])
			}
			if inUse, free, largest, _ := c.heap.Stats(); inUse != 0 || largest != free {
				t.Errorf("all freed, but %d bytes are in use and the largest block has %d of %d bytes", inUse, largest, free)
			}
		})
	}
}

// TestHeap_DepthIsLogarithmic frees every other object of a full heap. A
// search tree that grows in the order of its keys would be a list.
func TestHeap_DepthIsLogarithmic(t *testing.T) {
	const n = 1 << 14
	h := New(testBase, 2*n*64)
	for range 2 * n {
		mustAlloc(t, h, 64, 64)
	}
	for i := range uintptr(n) {
		if err := h.Free(testBase + 128*i); err != nil {
			t.Fatal(err)
		}
	}
	checkTree(t, h)
	var depth func(b *freeBlock) int
	depth = func(b *freeBlock) int {
		if b == nil {
			return 0
		}
		return 1 + max(depth(b.left), depth(b.right))
	}
	// The depth of a random tree of n keys is about 4.3 ln n - 1.9 ln ln n,
	// at most, for large n (Reed 2003): 37 here.
	if got := depth(h.free.root); got > 45 {
		t.Errorf("%d free blocks are %d deep, want at most 45", n, got)
	}
}
