// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"fmt"

	"github.com/goshmem/goshmem/fabric"
)

// Faults break promises, so that tests can show that they would notice. The
// functions are called by whoever issues the operation, from many goroutines
// at once.
type Faults struct {
	// Drop loses the operations for which it returns true: they have no
	// effect and no error; a get leaves dst as it was and a fetch returns 0.
	Drop func(Event) bool

	// Fail makes an operation fail with the error that it returns, if any.
	Fail func(Event) error

	// Hold keeps operations between far PEs for which it returns true from being
	// delivered until the world is aborted, as if their target were stopped.
	Hold func(Event) bool

	// IgnoreFence makes Fence do nothing.
	IgnoreFence bool

	// IgnoreQuiet makes Quiet and QuietPEs return at once.
	IgnoreQuiet bool

	// HoldBatches keeps what a batch has collected until some call sends it: it does not
	// leave by itself. A program that passes does without the time that it takes otherwise.
	HoldBatches bool

	// KeepBatches keeps it until Fence, Quiet or Close, whatever PEs wait for or get, and
	// though the batch is closed.
	KeepBatches bool

	// SignalFirst makes PutSignal deliver the signal before its data.
	SignalFirst bool
}

// An Event is an operation as [Faults] see it. A PutSignal is two: a Put,
// unless it is empty, and a Signal.
type Event struct {
	Source, Target int
	Kind           Kind
	Op             fabric.Op // of an Atomic, Fetch or Signal
	Off            fabric.Addr
	Size           int    // bytes
	Issue          uint64 // counts the operations of the endpoint, from 1
}

// Kind is the kind of an operation.
type Kind uint8

// The kinds. Non-blocking operations are of the kind of their blocking ones.
const (
	Put Kind = iota
	Get
	Word
	Note
	Atomic
	Fetch
	Signal
)

// atomic reports whether operations of the kind are executed atomically with others on
// their word.
func (k Kind) atomic() bool { return k >= Atomic }

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

var kindNames = [...]string{"put", "get", "put word", "note", "atomic", "fetching atomic", "signal"}
