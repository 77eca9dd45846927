// SPDX-License-Identifier: BSD-3-Clause

// Package segment is the layout of a node's shared file: one control segment,
// then one segment for each PE of the node.
//
//	0          header, one page: layout, sleepers and abort words, a line each
//	4096       status pages, 1 KiB a PE: doorbell, sleep condition, turn, what it does
//	control    segment of the node's first PE
//	  + Size   segment of the second, and so on
//
// The launcher creates the file and writes the header; the PEs map it. Both
// sides check the header, so a program and a launcher built from different
// versions find out before they disagree about a word.
package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
)

// Version changes whenever the layout does.
const Version = 4

const (
	headerSize = 4096
	statusSize = 1024

	// Granule is what segment sizes are rounded up to.
	Granule = 64 << 10

	// SystemSize is how much of each PE's segment the runtime keeps for
	// itself, at offset 0; the symmetric heap follows. Most of it is for teams that a
	// program may make: it costs no memory before.
	SystemSize = 1 << 20

	// MaxPEs is the most PEs a node's file can hold.
	MaxPEs = 1 << 16
)

var magic = [8]byte{'g', 'o', 's', 'h', 'm', 'e', 'm', 0}

// A Layout says what a node's file holds.
type Layout struct {
	First int     // the job's number of the node's first PE
	PEs   int     // PEs on the node; their numbers are First … First+PEs-1
	NPEs  int     // PEs of the job
	Size  uintptr // bytes of each PE's segment, a multiple of Granule
	Cores int     // cores that the node's PEs share
}

// SizeForHeap returns the segment size for a symmetric heap of heap bytes.
func SizeForHeap(heap uintptr) uintptr {
	return (heap + SystemSize + Granule - 1) &^ (Granule - 1)
}

// ControlSize returns the size of the control segment in bytes.
func (l Layout) ControlSize() uintptr {
	return (headerSize + uintptr(l.PEs)*statusSize + Granule - 1) &^ (Granule - 1)
}

// FileSize returns the size of the file in bytes.
func (l Layout) FileSize() int64 {
	return int64(l.ControlSize()) + int64(l.PEs)*int64(l.Size)
}

// Offset returns where the i-th of the node's segments starts in the file.
func (l Layout) Offset(i int) uintptr { return l.ControlSize() + uintptr(i)*l.Size }

// Header returns the first bytes of the file.
func (l Layout) Header() []byte {
	b := append([]byte(nil), magic[:]...)
	b = binary.NativeEndian.AppendUint32(b, Version)
	for _, v := range []uint64{uint64(l.First), uint64(l.PEs), uint64(l.NPEs), uint64(l.Size), uint64(l.Cores)} {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return b
}

// Format makes an empty file one of the layout: its size and its header. Its
// memory is not committed, and reads as zero.
func (l Layout) Format(f *os.File) error {
	if err := f.Truncate(l.FileSize()); err != nil {
		return fmt.Errorf("make a shared file of %d bytes for %d PEs: %w", l.FileSize(), l.PEs, err)
	}
	if _, err := f.WriteAt(l.Header(), 0); err != nil {
		return fmt.Errorf("write the shared file's header: %w", err)
	}
	return nil
}

// HeaderSize is the length of what Header returns.
const HeaderSize = 8 + 4 + 5*8

// ParseHeader reads a layout from the first bytes of a file.
func ParseHeader(b []byte) (Layout, error) {
	if len(b) < HeaderSize {
		return Layout{}, fmt.Errorf("segment: header of %d bytes, want %d", len(b), HeaderSize)
	}
	if !bytes.Equal(b[:8], magic[:]) {
		return Layout{}, fmt.Errorf("segment: not a goshmem segment file (it starts %q)", b[:8])
	}
	if v := binary.NativeEndian.Uint32(b[8:]); v != Version {
		return Layout{}, fmt.Errorf("segment: layout version %d, this program has version %d: build the program and gorun from the same goshmem", v, Version)
	}
	f := func(i int) uint64 { return binary.NativeEndian.Uint64(b[12+8*i:]) }
	l := Layout{First: int(f(0)), PEs: int(f(1)), NPEs: int(f(2)), Size: uintptr(f(3)), Cores: int(f(4))}
	if l.PEs < 1 || l.PEs > MaxPEs || l.First < 0 || l.NPEs < l.PEs || l.First > l.NPEs-l.PEs ||
		l.Size < Granule || l.Size%Granule != 0 || l.Size > 1<<46 || l.Cores < 1 {
		return Layout{}, fmt.Errorf("segment: impossible layout %+v", l)
	}
	return l, nil
}
