// SPDX-License-Identifier: BSD-3-Clause

package collectives

import "fmt"

// Kind is a kind of collective call.
type Kind uint8

// The kinds. All members of a group call the same one.
const (
	KindInit Kind = iota + 1
	KindFinalize
	KindBarrierAll
	KindSyncAll
	KindAlloc
	KindFree
	KindBroadcast
	KindFCollect
	KindAllToAll
	KindReduce
	KindReduceScatter
	KindInclusiveScan
	KindExclusiveScan
	KindCollect
	KindAllToAllStrided
	KindAllToAllV
	KindSplitStrided
	KindSplit2D
	KindSplitColor
	KindDestroy
	KindWait
)

// A Call says which collective a PE is in, with the arguments that must be the
// same on every member. What the arguments mean depends on the kind.
type Call struct {
	Kind Kind

	// Started is how many calls of Group.Start came before, modulo its size. A group sets it.
	Started uint16

	Elem uint32 // size of an element in bytes
	N    uint64 // elements; for Alloc and its kin too
	Arg  uint64 // alignment, offset, root, or operation
}

// digestBits is the size of a call's digest.
const digestBits = 44

// chainFactor spreads a difference of calls over the digests of those that follow.
const chainFactor = 0xd1342543de82ef95

// sign returns a hash of the call.
func (c Call) sign() uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := (uint64(c.Started)<<8 | uint64(c.Kind)) * odd
	for i, v := range [...]uint64{uint64(c.Elem), c.N, c.Arg} {
		if v == 0 {
			continue // a barrier has no arguments, and no time
		}
		// The finalizer of splitmix64: every bit of v reaches every bit of h.
		h ^= v + uint64(i+1)*odd
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// String describes the call in the words of package shmem.
func (c Call) String() string {
	if c.Started > 0 {
		return fmt.Sprintf("%s (collectives started before it: %d)", c.name(), c.Started)
	}
	return c.name()
}

func (c Call) name() string {
	switch c.Kind {
	case KindBarrierAll:
		return "BarrierAll"
	case KindSyncAll:
		return "SyncAll"
	case KindFinalize:
		return "Finalize"
	case KindInit:
		if c.Arg != 0 {
			return fmt.Sprintf("Init (with a choice of algorithms, %#x)", c.Arg)
		}
		return "Init"
	case KindAlloc:
		return fmt.Sprintf("Alloc of %d elements of %d bytes, aligned to %d", c.N, c.Elem, c.Arg)
	case KindFree:
		return fmt.Sprintf("Free of the object at offset %d", c.Arg)
	case KindBroadcast:
		return fmt.Sprintf("Broadcast of %d elements of %d bytes from PE %d", c.N, c.Elem, c.Arg)
	case KindFCollect:
		return fmt.Sprintf("FCollect of %d elements of %d bytes", c.N, c.Elem)
	case KindAllToAll:
		return fmt.Sprintf("AllToAll of %d elements of %d bytes a PE", c.N, c.Elem)
	case KindReduce:
		return fmt.Sprintf("%vReduce of %d elements of %d bytes", Operator(c.Arg), c.N, c.Elem)
	case KindReduceScatter:
		return fmt.Sprintf("%vReduceScatter of %d elements of %d bytes a PE", Operator(c.Arg), c.N, c.Elem)
	case KindInclusiveScan:
		return fmt.Sprintf("SumInclusiveScan of %d elements of %d bytes", c.N, c.Elem)
	case KindExclusiveScan:
		return fmt.Sprintf("SumExclusiveScan of %d elements of %d bytes", c.N, c.Elem)
	case KindCollect:
		return fmt.Sprintf("Collect of elements of %d bytes", c.Elem)
	case KindAllToAllStrided:
		return fmt.Sprintf("AllToAllStrided of %d elements of %d bytes a PE, strides %d and %d", c.N, c.Elem, c.Arg>>32, uint32(c.Arg))
	case KindAllToAllV:
		return fmt.Sprintf("AllToAllV of elements of %d bytes", c.Elem)
	case KindSplitStrided:
		return fmt.Sprintf("SplitStrided from PE %d by %d, %d PEs", int32(c.Arg>>32), int32(c.Arg), c.N)
	case KindSplit2D:
		return fmt.Sprintf("Split2D with %d PEs in a row", c.N)
	case KindSplitColor:
		return "SplitColor"
	case KindDestroy:
		return "Destroy"
	case KindWait:
		return "Wait for a collective that was started"
	}
	return fmt.Sprintf("collective %d", c.Kind)
}

// A MismatchError says that members of a group called different collectives.
type MismatchError struct {
	PE, Other            int    // this PE, and the first that differs: the world's numbers
	Call, OtherCall      string // what each called
	CallSite, OtherPlace string // where
}

// Error implements error.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("collective mismatch: PE %d is in %s at %s, but PE %d is in %s at %s",
		e.PE, e.Call, e.CallSite, e.Other, e.OtherCall, e.OtherPlace)
}
