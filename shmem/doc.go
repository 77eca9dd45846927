// SPDX-License-Identifier: BSD-3-Clause

// Package shmem is OpenSHMEM for Go: many PEs (processing elements) run one
// program, each owns a part of a symmetric heap that all can reach, and data
// moves by one-sided puts, gets and atomics in which the target takes no part.
//
//	func main() { shmem.Main(run) }
//
//	func run(pe *shmem.PE) error {
//		right := (pe.MyPE() + 1) % pe.NPEs()
//		inbox, err := shmem.Alloc[int64](pe, 1)        // collective: one on every PE
//		if err != nil {
//			return err
//		}
//		shmem.PutValue(inbox, int64(pe.MyPE()), right) // one-sided: right takes no part
//		pe.BarrierAll()
//		fmt.Println(pe.MyPE(), "got", inbox.Local()[0])
//		return nil
//	}
//
// Run it with "gorun -np 8 ./app": eight processes on one node, whose heaps are
// mapped into each other, so that a put is a copy and an atomic an instruction.
// Run alone it is one PE. In tests, package shmemtest runs the PEs as goroutines.
//
// # Objects
//
// [Alloc] gives a [Sym], the handle of an object that every PE has at the same
// place in its heap. [Sym.Local] is the calling PE's own memory; [Put], [Get] and
// the atomics name the PE whose memory is meant by its number, always the last
// argument. [Sym.At] and [Sym.Slice] select parts, which are symmetric objects too.
// Verbs are functions, not methods, because Go methods have no type parameters of
// their own; the handle carries the context, so x.On(ctx) is all it takes to use
// another.
//
// # Ordering
//
// A Put has read its source when it returns, and is visible at the target only
// after one of:
//
//   - [PE.Quiet] by the PE that issued it, after which every PE sees it;
//   - [PE.BarrierAll], which is Quiet and a barrier;
//   - a [PE.Fence] and then a signal, atomic or [PutValue] to the same PE: who sees
//     that, by [WaitUntil] or [Test], sees the Put;
//   - [PutSignal], whose signal is never visible before its own data.
//
// Nothing else orders two operations, not even two puts to one PE. Non-blocking
// operations (NBI) may read their source and write their result until Quiet.
// A Get or a fetching atomic is complete when it returns.
//
// Local memory that another PE writes is read after a wait, a barrier or a
// signal, as above, and then by plain Go.
//
// # Teams and contexts
//
// A [Team] is some PEs in an order of their own: of [PE.World], [PE.Shared], or what
// [Team.SplitStrided], [Team.Split2D] and [Team.SplitColor] make of another. Collectives
// are a team's. A [Context] is a stream of operations with its own Fence and Quiet;
// [Team.NewContext] makes one whose PE numbers are the team's:
//
//	row, column, err := pe.World().Split2D(4)
//	…
//	ctx, err := row.NewContext()
//	…
//	shmem.Put(x.On(ctx), src, 0) // to the first PE of the own row
//	ctx.Quiet()                  // waits for that, and for nothing else
//
// # Errors
//
// What the environment refuses ([Init], [Alloc], splits of teams) is an error, the same on every
// PE. Misuse (a zero or freed object, a PE or range out of bounds, collectives that
// do not match) panics with an [*Error] that says what, where and by which call;
// the checks are always on and cost about a nanosecond together. A PE that dies ends
// the job: gorun says which, why, and its last words.
//
// # Environment
//
// docs/environment.md has the variables that are read at the start, such as SHMEM_SYMMETRIC_SIZE and
// SHMEM_FABRIC; SHMEM_INFO=1 prints them.
//
// # Conformance
//
// The semantics are those of OpenSHMEM 1.6; each comment names its section. Every
// call is safe from any goroutine (SHMEM_THREAD_MULTIPLE), collectives one at a
// time. docs/conformance.md shows what is tested and what is not there yet.
//
// Beyond the specification are [PutV] and [GetV], which move several ranges at once,
// and atomics that libfabric has: [AtomicMin] and its kin, [AtomicMaskedSwap] and
// [AtomicCompareSwapIf], and [AtomicAdd] of floating-point and complex numbers.
// docs/atomics.md says which of them runs where.
package shmem
