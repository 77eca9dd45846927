// SPDX-License-Identifier: BSD-3-Clause

package env

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The variables that goshmem reads.
const (
	SymmetricSize = "SHMEM_SYMMETRIC_SIZE"
	Info          = "SHMEM_INFO"
	Version       = "SHMEM_VERSION"
	Debug         = "SHMEM_DEBUG"
	Fabric        = "SHMEM_FABRIC"
	Atomics       = "SHMEM_ATOMICS"
	Stats         = "SHMEM_STATS"
	Libfabric     = "SHMEM_LIBFABRIC"
	Collectives   = "SHMEM_COLLECTIVES"
)

// A Variable is a row of the table.
type Variable struct {
	Name     string
	Fallback string // older name, read if Name is not set; "" if there is none
	Default  string // value that holds if neither is set
	Meaning  string // one line, lower case
}

// Variables returns the table, a fresh copy.
func Variables() []Variable {
	return []Variable{
		{SymmetricSize, "SMA_SYMMETRIC_SIZE", "256M", "bytes of symmetric heap of each PE; gorun --heap wins over it"},
		{Info, "SMA_INFO", "", "if set, print this table at start"},
		{Version, "SMA_VERSION", "", "if set, print the version of goshmem at start"},
		{Debug, "SMA_DEBUG", "", "if set, print what the runtime chooses and does at start and end"},
		{Fabric, "", "", "fabric of all transfers: shm (shared memory) or ofi (libfabric, on one node too); empty: shared memory on a node, libfabric between nodes"},
		{Atomics, "", "", "who executes atomics: fabric, also those to near PEs; empty: the processor, where the fabric's are coherent with it"},
		{Stats, "", "", "if set, print at the end how often libfabric was called; gorun --stats sets it"},
		{Libfabric, "", "", "how libfabric is used, for tests, comma-separated: allocated (keep registered memory in place), readback (Quiet reads back), tx=N (operations in flight), flood=N (of which on small puts are collected)"},
		{Collectives, "", "", "algorithms of collectives in place of the usual ones, such as reduce=shares,sync=central; docs/collectives.md has their names; the same on every PE"},
	}
}

// A Table reads the variables of one environment.
type Table struct {
	lookup func(name string) (value string, ok bool)
}

// New returns a table on the environment that lookup reads, usually
// [os.LookupEnv].
func New(lookup func(name string) (value string, ok bool)) Table {
	return Table{lookup}
}

// Lookup returns a variable's value and the name that it was found under.
// Name wins over its fallback; an empty value counts as set. If neither is
// set, value is the default and ok is false.
//
// Lookup panics if the table has no such variable.
func (t Table) Lookup(name string) (value, from string, ok bool) {
	for _, v := range Variables() {
		if v.Name == name {
			return t.find(v)
		}
	}
	panic(fmt.Sprintf("env: %s is not in the table", name))
}

func (t Table) find(v Variable) (value, from string, ok bool) {
	for _, name := range [...]string{v.Name, v.Fallback} {
		if name == "" {
			continue
		}
		if value, ok := t.lookup(name); ok {
			return value, name, true
		}
	}
	return v.Default, "", false
}

// IsSet reports whether a variable is set, to whatever value: all that counts
// for [Info], [Version], [Debug] and [Stats].
func (t Table) IsSet(name string) bool {
	_, _, ok := t.Lookup(name)
	return ok
}

// HeapSize returns the size of each PE's symmetric heap in bytes. The error
// names the variable.
func (t Table) HeapSize() (uint64, error) {
	value, from, _ := t.Lookup(SymmetricSize)
	size, err := ParseSize(value)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", from, err)
	}
	return size, nil
}

// FabricName returns the name of the fabric asked for, or "" if the choice is
// goshmem's. The error names the variable.
func (t Table) FabricName() (string, error) {
	value, from, _ := t.Lookup(Fabric)
	switch value {
	case "", "shm", "ofi":
		return value, nil
	case "loop":
		return "", fmt.Errorf("%s: fabric loop joins PEs of one process, for tests: use shmemtest; the fabrics of processes are shm and ofi", from)
	}
	return "", fmt.Errorf("%s: unknown fabric %q; the fabrics are shm and ofi", from, value)
}

// FarAtomics reports whether all atomics are to be the fabric's. The error
// names the variable.
func (t Table) FarAtomics() (bool, error) {
	switch value, from, _ := t.Lookup(Atomics); value {
	case "":
		return false, nil
	case "fabric":
		return true, nil
	default:
		return false, fmt.Errorf("%s: %q; want fabric or nothing", from, value)
	}
}

// LibfabricUse is how libfabric is to be used, for tests.
type LibfabricUse struct {
	Allocated, ReadBack bool
	TxSize              int // 0: the provider's
	Flood               int // 0: the usual number
}

// LibfabricUse returns what [Libfabric] says. The error names the variable.
func (t Table) LibfabricUse() (LibfabricUse, error) {
	var u LibfabricUse
	value, from, _ := t.Lookup(Libfabric)
	for word := range strings.SplitSeq(value, ",") {
		name, number, _ := strings.Cut(word, "=")
		switch {
		case value == "":
		case word == "allocated":
			u.Allocated = true
		case word == "readback":
			u.ReadBack = true
		case name == "tx" || name == "flood":
			n, err := strconv.ParseInt(number, 10, 32)
			if err != nil || n < 1 {
				return u, fmt.Errorf("%s: %q: want %s= and a number from 1 on", from, word, name)
			}
			if name == "tx" {
				u.TxSize = int(n)
			} else {
				u.Flood = int(n)
			}
		default:
			return u, fmt.Errorf("%s: unknown word %q; want allocated, readback, tx=N or flood=N", from, word)
		}
	}
	return u, nil
}

// Print writes the table, with the values in effect, for [Info].
func (t Table) Print(w io.Writer) error {
	var b strings.Builder
	b.WriteString("goshmem reads these environment variables:\n")
	for _, v := range Variables() {
		value, from, ok := t.find(v)
		fmt.Fprintf(&b, "\n  %s", v.Name)
		switch {
		case ok:
			fmt.Fprintf(&b, "=%q", value)
		case v.Default != "":
			fmt.Fprintf(&b, " not set, %s holds", v.Default)
		default:
			b.WriteString(" not set")
		}
		switch {
		case ok && from != v.Name:
			fmt.Fprintf(&b, " (from %s)", from)
		case v.Fallback != "" && !ok:
			fmt.Fprintf(&b, " (%s would count, too)", v.Fallback)
		}
		fmt.Fprintf(&b, "\n      %s\n", v.Meaning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
