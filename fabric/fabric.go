// SPDX-License-Identifier: BSD-3-Clause

package fabric

// Addr is a byte offset in the segment of the PE that an operation names.
type Addr = uintptr

// A Provider opens domains. It is stateless.
type Provider interface {
	// Name returns the provider's name: "shm", "loop", "tcp;ofi_rxm".
	Name() string

	// Probe reports whether the provider can be used on this machine, and if
	// not, why not and what would make it usable.
	Probe() error

	// Open opens a domain for one PE. It takes no part of other PEs.
	Open(job Job) (Domain, error)
}

// A Job says who opens a domain, and for how much memory.
type Job struct {
	PE          int     // this PE's number, in [0, NPEs)
	NPEs        int     // PEs of the job
	SegmentSize uintptr // bytes of each PE's segment, the same on every PE
}

// A Domain is one PE's access to a fabric: its segment, those of the others as
// far as they are near, and the endpoints that reach all of them.
//
// All methods are safe for use by several goroutines at once, except that
// Register, Connect and Close are each called once, in this order.
type Domain interface {
	Caps() Caps

	// Map returns PE pe's segment as mapped into this process, or nil if
	// loads and stores do not reach it. The provider owns the memory; it
	// stays mapped until the process ends, because slices of it outlive Close.
	Map(pe int) []byte

	// Register makes segment the memory that other PEs reach on this PE and
	// returns what they need to know for it: addresses and keys, an opaque
	// blob of at most 1 KiB. A provider that maps memory itself takes only
	// the segment that Map returns for this PE.
	Register(segment []byte) (blob []byte, err error)

	// Connect takes every PE's blob, and keeps the table. It returns once operations
	// to each of them may be posted; connections may be made later, at first use.
	Connect(blobs Table) error

	// Endpoint opens an endpoint: one stream of operations with its own
	// Fence and Quiet.
	Endpoint() (Endpoint, error)

	// Wait returns once c holds, and then everything that was made visible
	// before the update that made it hold is visible to the caller. It drives
	// progress if the fabric needs it, yields the core to other processes,
	// and sleeps when the wait is long. An error means that the job is
	// ending: the condition may not hold.
	//
	// An update by an Endpoint operation, or by a direct store followed by
	// Wake, ends the wait at once; a bare store ends it within some ten milliseconds.
	Wait(c Cond) error

	// WaitAny is Wait for a set of conditions on words of the own segment, one or more: it
	// returns once one of them holds. It keeps s's slices until it returns.
	WaitAny(s Conds) error

	// Look reports whether c, on a word of the own segment, holds now, and then orders as
	// Wait does. It drives nothing and lets nobody run: who polls with it calls an
	// endpoint's Progress in between.
	Look(c Cond) bool

	// Wake wakes the waits of near PE pe, so that they look at their words
	// again; pe < 0 wakes those of every near PE. The caller has made its
	// stores visible before. Wakes of a PE that does not sleep are cheap.
	Wake(pe int)

	// Sleepers returns a word that is nonzero while some near PE sleeps in
	// Wait, except for those who sleep for System words only: a PE asleep in a
	// barrier must not slow down who works. Whoever stores directly reads it to
	// know whether Wake is due.
	Sleepers() *uint32

	// Abort ends every present and future Wait and blocking operation of the
	// job with err as the cause, on all PEs that this domain can tell.
	Abort(err error)

	// Close ends the domain after the last operation. Endpoints must be
	// closed before. Mapped segments stay mapped.
	Close() error
}

// An Endpoint posts operations to other PEs and to the own one. PEs are the
// world's numbers. Callers guarantee that every range lies within the target's
// segment; no operation keeps a slice after it returns.
//
// All methods are safe for use by several goroutines at once. Operations are
// unordered, except as Fence and Quiet order them. A failure of an operation
// that has returned already is kept and returned by the next Quiet.
type Endpoint interface {
	// Put copies src to dst on PE pe. It returns once src may be reused; the
	// data is visible there after Quiet at the latest. len(src) may be 0.
	Put(pe int, dst Addr, src []byte) error

	// Get copies len(dst) bytes at src on PE pe to dst and returns once they
	// are there.
	Get(pe int, dst []byte, src Addr) error

	// PutWord stores the low size bytes of v at dst on PE pe, untorn: a waiter
	// sees the old value or the new one. size is 1, 2, 4 or 8 and dst is
	// aligned to it. Completion is Put's.
	PutWord(pe int, dst Addr, size uint8, v uint64) error

	// Atomic applies op to the dt-typed word at dst on PE pe, atomically with
	// respect to all atomics on words of that type. v holds the operand's
	// bits in its low bytes. Completion is Put's. op is not a fetching or
	// comparing one.
	Atomic(pe int, op Op, dt Datatype, dst Addr, v uint64) error

	// FetchAtomic applies op likewise and returns the bits of the value that
	// the word had before, zero-extended. cmp is the comparand of [OpCswap]
	// and its kin, the mask of [OpMswap], and ignored otherwise.
	FetchAtomic(pe int, op Op, dt Datatype, dst Addr, v, cmp uint64) (uint64, error)

	// Fence orders: operations of this endpoint to a PE that were issued
	// before it are visible there before those issued after it.
	Fence() error

	// Quiet returns once every operation that was issued on this endpoint
	// before it is complete and visible to all PEs.
	Quiet() error

	// Progress lets the fabric work without waiting for anything.
	Progress() error

	// Close completes what is outstanding and ends the endpoint.
	Close() error
}

// Caps says what a domain does by itself.
type Caps struct {
	// Native says whether an operation on a type runs in the fabric itself.
	Native AtomicTable

	// Direct: loads and stores may be used on the segments that Map returns,
	// in place of Put and Get.
	Direct bool

	// CPUAtomics: remote atomics are executed by CPU instructions on the
	// target, coherent with this process's own, so that direct ones may be
	// used on the segments that Map returns.
	CPUAtomics bool

	// InjectSize is the largest Put in bytes that costs no wait for src.
	InjectSize int

	// AutoProgress: operations aimed at this PE need no call by it.
	AutoProgress bool

	// Spin is how often a wait may look at its word, with a pause between,
	// before it calls Wait: 0 where looking is pointless.
	Spin int
}
