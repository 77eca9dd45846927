// SPDX-License-Identifier: BSD-3-Clause

package env

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// environment returns a lookup function on name=value pairs.
func environment(pairs ...string) func(string) (string, bool) {
	values := make(map[string]string)
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		values[name] = value
	}
	return func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
}

func TestTable_Lookup(t *testing.T) {
	tests := []struct {
		env         []string
		name        string
		value, from string
		ok          bool
	}{
		{nil, SymmetricSize, "256M", "", false},
		{[]string{"SHMEM_SYMMETRIC_SIZE=1g"}, SymmetricSize, "1g", "SHMEM_SYMMETRIC_SIZE", true},
		{[]string{"SMA_SYMMETRIC_SIZE=2g"}, SymmetricSize, "2g", "SMA_SYMMETRIC_SIZE", true},
		{[]string{"SMA_SYMMETRIC_SIZE=2g", "SHMEM_SYMMETRIC_SIZE=1g"}, SymmetricSize, "1g", "SHMEM_SYMMETRIC_SIZE", true},
		{[]string{"SMA_SYMMETRIC_SIZE=2g", "SHMEM_SYMMETRIC_SIZE="}, SymmetricSize, "", "SHMEM_SYMMETRIC_SIZE", true},
		{nil, Debug, "", "", false},
		{[]string{"SMA_DEBUG="}, Debug, "", "SMA_DEBUG", true},
		{[]string{"SMA_FABRIC=shm"}, Fabric, "", "", false}, // goshmem's own: no older name
	}
	for _, tt := range tests {
		value, from, ok := New(environment(tt.env...)).Lookup(tt.name)
		if value != tt.value || from != tt.from || ok != tt.ok {
			t.Errorf("with %q, Lookup(%s) = %q, %q, %v; want %q, %q, %v", tt.env, tt.name, value, from, ok, tt.value, tt.from, tt.ok)
		}
		if got := New(environment(tt.env...)).IsSet(tt.name); got != tt.ok {
			t.Errorf("with %q, IsSet(%s) = %v, want %v", tt.env, tt.name, got, tt.ok)
		}
	}
}

func TestTable_LookupPanicsOutsideTheTable(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Lookup of a variable that the table lacks did not panic")
		}
	}()
	New(environment("HOME=/")).Lookup("HOME")
}

func TestTable_HeapSize(t *testing.T) {
	tests := []struct {
		env  []string
		want uint64
		err  string // what the error starts with
	}{
		{nil, 256 << 20, ""},
		{[]string{"SHMEM_SYMMETRIC_SIZE=3.1M"}, 3250586, ""},
		{[]string{"SMA_SYMMETRIC_SIZE=0"}, 0, ""},
		{[]string{"SHMEM_SYMMETRIC_SIZE=abc"}, 0, `SHMEM_SYMMETRIC_SIZE: "abc" `},
		{[]string{"SMA_SYMMETRIC_SIZE=-1"}, 0, `SMA_SYMMETRIC_SIZE: "-1" `},
		{[]string{"SHMEM_SYMMETRIC_SIZE="}, 0, `SHMEM_SYMMETRIC_SIZE: "" `},
	}
	for _, tt := range tests {
		got, err := New(environment(tt.env...)).HeapSize()
		if got != tt.want || !startsWith(err, tt.err) {
			t.Errorf("with %q, HeapSize() = %d, %v; want %d, error %q", tt.env, got, err, tt.want, tt.err)
		}
	}
}

func TestTable_FabricName(t *testing.T) {
	tests := []struct {
		env  []string
		want string
		err  string
	}{
		{nil, "", ""},
		{[]string{"SHMEM_FABRIC="}, "", ""},
		{[]string{"SHMEM_FABRIC=shm"}, "shm", ""},
		{[]string{"SHMEM_FABRIC=ofi"}, "ofi", ""},
		{[]string{"SHMEM_FABRIC=loop"}, "", "SHMEM_FABRIC: fabric loop joins PEs of one process"},
		{[]string{"SHMEM_FABRIC=ether"}, "", `SHMEM_FABRIC: unknown fabric "ether"`},
	}
	for _, tt := range tests {
		got, err := New(environment(tt.env...)).FabricName()
		if got != tt.want || !startsWith(err, tt.err) {
			t.Errorf("with %q, FabricName() = %q, %v; want %q, error %q", tt.env, got, err, tt.want, tt.err)
		}
	}
}

func TestTable_FarAtomics(t *testing.T) {
	tests := []struct {
		env  []string
		want bool
		err  string
	}{
		{nil, false, ""},
		{[]string{"SHMEM_ATOMICS=fabric"}, true, ""},
		{[]string{"SHMEM_ATOMICS=nic"}, false, `SHMEM_ATOMICS: "nic"; want fabric`},
	}
	for _, tt := range tests {
		got, err := New(environment(tt.env...)).FarAtomics()
		if got != tt.want || !startsWith(err, tt.err) {
			t.Errorf("with %q, FarAtomics() = %v, %v; want %v, error %q", tt.env, got, err, tt.want, tt.err)
		}
	}
}

func TestTable_LibfabricUse(t *testing.T) {
	tests := []struct {
		value string
		want  LibfabricUse
		err   string
	}{
		{"", LibfabricUse{}, ""},
		{"allocated", LibfabricUse{Allocated: true}, ""},
		{"readback,tx=4", LibfabricUse{ReadBack: true, TxSize: 4}, ""},
		{"flood=1,allocated", LibfabricUse{Allocated: true, Flood: 1}, ""},
		{"flood", LibfabricUse{}, `SHMEM_LIBFABRIC: "flood": want flood= and a number from 1 on`},
		{"tx=0", LibfabricUse{}, `SHMEM_LIBFABRIC: "tx=0": want tx= and a number from 1 on`},
		{"allocated,", LibfabricUse{}, `SHMEM_LIBFABRIC: unknown word ""`},
	}
	for _, tt := range tests {
		got, err := New(environment("SHMEM_LIBFABRIC=" + tt.value)).LibfabricUse()
		if tt.err == "" && got != tt.want || !startsWith(err, tt.err) {
			t.Errorf("with %q, LibfabricUse() = %+v, %v; want %+v, error %q", tt.value, got, err, tt.want, tt.err)
		}
	}
}

// startsWith reports whether err's text starts with prefix; nil is "".
func startsWith(err error, prefix string) bool {
	if err == nil || prefix == "" {
		return err == nil && prefix == ""
	}
	return strings.HasPrefix(err.Error(), prefix)
}

func TestTable_PrintNamesEveryVariable(t *testing.T) {
	var b strings.Builder
	if err := New(environment("SMA_SYMMETRIC_SIZE=2g", "SHMEM_DEBUG=")).Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, v := range Variables() {
		if !strings.Contains(b.String(), "\n  "+v.Name) || !strings.Contains(b.String(), v.Meaning) {
			t.Errorf("Print lacks %s or its meaning:\n%s", v.Name, &b)
		}
	}
	for _, want := range []string{
		"SHMEM_SYMMETRIC_SIZE=\"2g\" (from SMA_SYMMETRIC_SIZE)\n",
		"SHMEM_DEBUG=\"\"\n",
		"SHMEM_INFO not set (SMA_INFO would count, too)\n",
		"SHMEM_FABRIC not set\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("Print lacks %q:\n%s", want, &b)
		}
	}
}

func TestTable_PrintShowsDefaults(t *testing.T) {
	var b strings.Builder
	if err := New(environment()).Print(&b); err != nil {
		t.Fatal(err)
	}
	if want := "SHMEM_SYMMETRIC_SIZE not set, 256M holds"; !strings.Contains(b.String(), want) {
		t.Errorf("Print lacks %q:\n%s", want, &b)
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestTable_PrintReturnsTheWritersError(t *testing.T) {
	broken := errors.New("broken pipe")
	if err := New(environment()).Print(brokenWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("Print to a broken writer = %v, want %v", err, broken)
	}
}

func TestVariables(t *testing.T) {
	seen := make(map[string]bool)
	for _, v := range Variables() {
		if seen[v.Name] {
			t.Errorf("%s is in the table twice", v.Name)
		}
		seen[v.Name] = true
		rest, ok := strings.CutPrefix(v.Name, "SHMEM_")
		if !ok {
			t.Errorf("%s does not start with SHMEM_", v.Name)
		}
		if v.Fallback != "" && v.Fallback != "SMA_"+rest {
			t.Errorf("%s has fallback %s, want SMA_%s", v.Name, v.Fallback, rest)
		}
		if v.Meaning == "" || strings.Contains(v.Meaning, "\n") {
			t.Errorf("%s: meaning %q is not one line", v.Name, v.Meaning)
		}
	}
}

// TestTable_IsDocumented: docs/environment.md has the table as it is.
func TestTable_IsDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + s + "`"
	}
	for _, v := range Variables() {
		row := fmt.Sprintf("\n| `%s` | %s | %s | %s |\n", v.Name, code(v.Fallback), code(v.Default), v.Meaning)
		if !strings.Contains(string(b), row) {
			t.Errorf("docs/environment.md lacks%s", row)
		}
	}
	if got, want := strings.Count(string(b), "\n| `"), len(Variables()); got != want {
		t.Errorf("docs/environment.md has %d variables, want %d", got, want)
	}
}
