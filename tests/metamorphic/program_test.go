// SPDX-License-Identifier: BSD-3-Clause

package metamorphic

import (
	"fmt"
	"strings"
)

// A program is what all PEs do, phase by phase. Between two phases lies a
// barrier; within one, what two PEs do is on different elements, or commutes.
type program struct {
	np     int
	phases []phase
}

// A phase is one list of operations for each PE, or one for all if it is
// collective. Operations of one PE may depend on each other: then a fence or
// a quiet is among them where the specification asks for one.
type phase struct {
	name       string
	collective bool
	ops        [][]op
	touched    []int // objects that the phase may change
}

// A code is a kind of operation.
type code uint8

const (
	put code = iota
	putNBI
	putValue
	putStrided
	putBlocks
	putV
	store // by the PE itself, in its own memory

	get
	getNBI
	getValue
	getStrided
	getBlocks
	getV
	load

	set // atomics that fetch nothing
	add
	inc
	and
	or
	xor
	minimum
	maximum
	prod
	logicalAnd
	logicalOr
	logicalXor

	fetch // atomics that do
	swap
	compareSwap
	fetchAdd
	fetchInc
	fetchAnd
	fetchOr
	fetchXor
	fetchMin
	fetchMax
	fetchProd
	fetchLogicalAnd
	fetchLogicalOr
	fetchLogicalXor
	maskedSwap
	swapIf

	fetchNBI
	swapNBI
	compareSwapNBI
	fetchAddNBI
	fetchIncNBI
	fetchAndNBI
	fetchOrNBI
	fetchXorNBI

	putSignal
	putSignalNBI
	signalAdd
	signalSet
	awaitSignal
	awaitWord
	poll

	fence
	quiet

	broadcast // collectives
	fcollect
	allToAll
	sumReduce
	syncAll
	barrierAll
	alloc
	allocAligned
	allocHint
	realloc
	free

	numCodes
)

var codeNames = [numCodes]string{
	"Put", "PutNBI", "PutValue", "PutStrided", "PutBlocks", "PutV", "store",
	"Get", "GetNBI", "GetValue", "GetStrided", "GetBlocks", "GetV", "load",
	"AtomicSet", "AtomicAdd", "AtomicInc", "AtomicAnd", "AtomicOr", "AtomicXor",
	"AtomicMin", "AtomicMax", "AtomicProd", "AtomicLogicalAnd", "AtomicLogicalOr", "AtomicLogicalXor",
	"AtomicFetch", "AtomicSwap", "AtomicCompareSwap", "AtomicFetchAdd", "AtomicFetchInc", "AtomicFetchAnd", "AtomicFetchOr", "AtomicFetchXor",
	"AtomicFetchMin", "AtomicFetchMax", "AtomicFetchProd", "AtomicFetchLogicalAnd", "AtomicFetchLogicalOr", "AtomicFetchLogicalXor",
	"AtomicMaskedSwap", "AtomicCompareSwapIf",
	"AtomicFetchNBI", "AtomicSwapNBI", "AtomicCompareSwapNBI", "AtomicFetchAddNBI", "AtomicFetchIncNBI", "AtomicFetchAndNBI", "AtomicFetchOrNBI", "AtomicFetchXorNBI",
	"PutSignal", "PutSignalNBI", "SignalAdd", "SignalSet", "SignalWaitUntil", "WaitUntil", "Test until",
	"Fence", "Quiet",
	"Broadcast", "FCollect", "AllToAll", "SumReduce", "SyncAll", "BarrierAll", "Alloc", "AllocAligned", "AllocHint", "Realloc", "Free",
}

// An op is one operation. Which fields count depends on the code.
type op struct {
	code   code
	object int
	target int

	// The elements: blocks blocks of size elements, the first at at. Strides are
	// in elements, remote in the object and local in the slice.
	at, size, blocks int
	remote, local    int

	value uint64 // what the values are made from; the signal's value or the one waited for

	signal int // object, and word of it
	word   int

	source   int // object that a collective takes from, and its first element
	from     int
	count    int // elements
	root     int
	kind     int  // of a new object
	noResult bool // what is fetched depends on the order of PEs
}

// contiguous makes o one of n elements in a row.
func (o op) contiguous(n int) op {
	o.size, o.blocks, o.remote, o.local = n, 1, n, n
	return o
}

// span returns the number of elements from the first to the last.
func span(size, blocks, stride int) int {
	if blocks == 0 {
		return 0
	}
	return (blocks-1)*stride + size
}

// each calls f with the index in the object's range and that in the slice.
func (o *op) each(f func(remote, local int)) {
	for b := range o.blocks {
		for i := range o.size {
			f(b*o.remote+i, b*o.local+i)
		}
	}
}

// end returns the first element behind those that o touches.
func (o *op) end() int { return o.at + span(o.size, o.blocks, o.remote) }

// String shows the fields that are not zero.
func (o *op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of object %d", codeNames[o.code], o.object)
	show := func(name string, v int) {
		if v != 0 {
			fmt.Fprintf(&b, " %s=%d", name, v)
		}
	}
	fmt.Fprintf(&b, " target=%d", o.target)
	show("at", o.at)
	show("size", o.size)
	show("blocks", o.blocks)
	show("remote", o.remote)
	show("local", o.local)
	show("signal", o.signal)
	show("word", o.word)
	show("source", o.source)
	show("from", o.from)
	show("count", o.count)
	show("root", o.root)
	if o.value != 0 {
		fmt.Fprintf(&b, " value=%#x", o.value)
	}
	return b.String()
}

func (c code) isNBIRead() bool { return c == getNBI || c >= fetchNBI && c <= fetchXorNBI }

func (c code) isAtomic() bool { return c >= set && c <= fetchXorNBI }

func (c code) waits() bool { return c == awaitSignal || c == awaitWord || c == poll }
