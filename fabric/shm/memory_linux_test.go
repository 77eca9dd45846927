// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/segment"
)

// picture writes files below a new root, as the kernel would show them.
func picture(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir() + "/"
	for name, text := range files {
		path := root + name
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestMemoryLimits(t *testing.T) {
	const meminfo = "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 4000 kB\n"
	machine := memoryLimit{"this machine", 4000 << 10}
	tests := []struct {
		name  string
		files map[string]string
		want  []memoryLimit
	}{
		{"nothing is known", nil, nil},
		{"no cgroup", map[string]string{"proc/meminfo": meminfo}, []memoryLimit{machine}},
		{"version 2, the parent's limit counts", map[string]string{
			"proc/meminfo":                      meminfo,
			"proc/self/cgroup":                  "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":      "max\n",
			"sys/fs/cgroup/a/b/memory.current":  "5\n",
			"sys/fs/cgroup/a/memory.max":        "1000\n",
			"sys/fs/cgroup/a/memory.current":    "400\n",
			"sys/fs/cgroup/cgroup.controllers":  "memory\n",
			"sys/fs/cgroup/elsewhere/cpu.max":   "1 2\n",
			"sys/fs/cgroup/a/b/memory.oom.type": "x\n",
		}, []memoryLimit{machine, {"the memory cgroup /a", 600}}},
		{"version 2, more used than allowed", map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"sys/fs/cgroup/memory.max":     "1000\n",
			"sys/fs/cgroup/memory.current": "1400\n",
		}, []memoryLimit{{"the memory cgroup /", 0}}},
		{"version 1", map[string]string{
			"proc/self/cgroup": "3:cpu:/x\n2:memory,hugetlb:/job\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "5000\n",
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes":     "7\n",
		}, []memoryLimit{{"the memory cgroup /job", 4000}}},
		{"in a container the path is outside", map[string]string{
			"proc/self/cgroup":             "0::/docker/12ab\n",
			"sys/fs/cgroup/memory.max":     "300\n",
			"sys/fs/cgroup/memory.current": "100\n",
		}, []memoryLimit{{"the memory cgroup /", 200}}},
		{"nonsense", map[string]string{"proc/meminfo": "MemAvailable: lots kB\n", "proc/self/cgroup": "0\n::\n"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := memoryLimits(picture(t, test.files)); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestAffords_NamesNeedAndLimit(t *testing.T) {
	d := &Domain{layout: segment.Layout{PEs: 4}}
	err := d.Affords(1 << 50)
	if err == nil {
		t.Fatal("4 PEs can have 1 PiB each")
	}
	for _, want := range []string{"4 PEs", "1125899906842624 bytes", "4294967296 MiB", "MiB left"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// TestAffordsAll_CountsOnce: what another PE has committed is not asked for again.
func TestAffordsAll_CountsOnce(t *testing.T) {
	const size, part = 64 << 20, 8 << 20
	l := segment.Layout{PEs: 2, NPEs: 2, Size: size, Cores: 1}
	file, err := segment.CreateFile(l)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var ds [2]*Domain
	for pe := range ds {
		d, err := New(file).Open(fabric.Job{PE: pe, NPEs: 2})
		if err != nil {
			t.Fatal(err)
		}
		ds[pe] = d.(*Domain)
	}
	before, err := ds[0].uncommitted()
	if err != nil {
		t.Fatal(err)
	}
	if before < 2*(size-part) || before > uint64(l.FileSize()) {
		t.Errorf("%d bytes are to be committed of a file of %d", before, l.FileSize())
	}
	if err := ds[0].AffordsAll(); err != nil {
		t.Error(err)
	}
	if err := ds[1].Commit(0, part); err != nil {
		t.Fatal(err)
	}
	after, err := ds[0].uncommitted()
	if err != nil {
		t.Fatal(err)
	}
	if before-after < part {
		t.Errorf("%d bytes are to be committed after %d of %d were", after, part, before)
	}
}

func TestAffordsAll_NamesNeedAndLimit(t *testing.T) {
	fd, err := unix.MemfdCreate("segment", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	d := &Domain{file: os.NewFile(uintptr(fd), "segment"), layout: segment.Layout{PEs: 4, Size: 1 << 50}}
	defer d.file.Close()
	if err := d.file.Truncate(4 << 50); err != nil {
		t.Fatal(err)
	}
	err = d.AffordsAll()
	if err == nil {
		t.Fatal("4 PEs can have 1 PiB each")
	}
	for _, want := range []string{"4 PEs", "1125899906842624 bytes", "4294967296 MiB", "MiB left"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}
