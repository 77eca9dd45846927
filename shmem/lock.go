// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"sync/atomic"

	"github.com/goshmem/goshmem/internal/spin"
)

// A Lock is what [SetLock] and its kin take: a word that excludes PEs from each
// other. Alloc gives it free, as zero does; an array of locks is as many locks.
// Nobody else may write it.
//
// OpenSHMEM 1.6, 9.13 (there an 8-byte integer).
//
// It is an MCS queue (Mellor-Crummey & Scott 1991): PEs that wait stand in line, each
// asleep for a word of its own, which the one before it changes. To take a free lock
// costs one exchange with its home, to hand it on one message.
type Lock struct {
	// Two words that only atomics reach:
	//   - the tail, on the lock's home: the number of the last PE in line, from 1 on, or 0
	//     if the lock is free;
	//   - the node, on each PE: its place in line, or 0 if it stands in none.
	_ [2]uint32
}

// What a node holds. Each part is set once by an atomic or, and all are cleared
// when the PE leaves the line.
//
//	 31        30                                        1   0
//	held   number of the next PE in line, from 1 on; 0: none   in line
const (
	lockInLine = 1
	lockNext   = 1 << 1
	lockHeld   = 1 << 31
)

// Where all PEs of the job are near, a PE that waits stands at its turn, a word of the
// domain ([fabric.Turner]): those of all PEs lie close together, where nodes of different
// PEs lie on pages and page tables of their own. A PE has one. If two of its goroutines wait
// for two locks, one of them waits at its node. Once it is its turn, the PE moves what the
// word holds to the node and is free to wait for another lock.
//
//	63        62                                46        45       0
//	held   number of the next PE in line, from 1 on   lock, 0: none
//
// The lock is its offset in units of its size, from 1 on.
const (
	turnLock = 1<<46 - 1
	turnNext = 1 << 46
	turnHeld = 1 << 63
)

// SetLock takes the lock l and returns when the calling PE holds it. PEs get it in
// the order in which they asked. What its holders did before they cleared it, puts on
// their default contexts included, is complete and visible.
//
// A PE is one party to a lock, whatever goroutines it has: goroutines of a PE
// exclude each other by a sync.Mutex around both calls. The context that l is on does
// not matter.
//
// SetLock panics if l is zero, freed, or not of one element, and if the PE holds l
// already or waits for it. OpenSHMEM 1.6, 9.13.1 (shmem_set_lock).
func SetLock(l Sym[Lock]) {
	l.checkScalar("SetLock", 0)
	k := linkOf(l)
	if !k.enter() {
		l.refuse("SetLock", -1, "this PE holds the lock already, or waits for it in another goroutine")
	}
	own := k.takePlace()
	if before := AtomicSwap(k.tail, k.self(), k.home); before != 0 {
		k.follow(int(before) - 1)
		k.await(own)
		if own == nil {
			return
		}
	}
	node := uint32(lockHeld)
	if own != nil {
		node |= uint32(own.Swap(0)&^turnHeld/turnNext) * lockNext
	}
	AtomicFetchOr(k.node, node, k.me)
}

// TestLock takes the lock l if it is free, and reports whether it did. It does not
// wait. For a lock that the calling PE holds or waits for it reports false.
//
// TestLock panics if l is zero, freed, or not of one element. OpenSHMEM 1.6, 9.13.1
// (shmem_test_lock, whose result is the other way round).
func TestLock(l Sym[Lock]) bool {
	l.checkScalar("TestLock", 0)
	k := linkOf(l)
	if !k.enter() {
		return false
	}
	if AtomicCompareSwap(k.tail, 0, k.self(), k.home) == 0 {
		AtomicFetchOr(k.node, lockHeld, k.me)
		return true
	}
	AtomicSwap(k.node, 0, k.me)
	k.ctx.polled("TestLock")
	return false
}

// ClearLock completes every operation on the default context, as Quiet does, and
// gives the lock l to the PE that has waited longest, or to nobody.
//
// ClearLock panics if l is zero, freed, or not of one element, and if the calling PE
// does not hold it. OpenSHMEM 1.6, 9.13.1 (shmem_clear_lock).
func ClearLock(l Sym[Lock]) {
	l.checkScalar("ClearLock", 0)
	k := linkOf(l)
	node := AtomicFetch(k.node, k.me)
	if node < lockHeld {
		l.refuse("ClearLock", -1, "this PE does not hold the lock")
	}
	k.ctx.Quiet()
	if node < lockHeld|lockNext && AtomicCompareSwap(k.tail, k.self(), 0, k.home) == k.self() {
		AtomicSwap(k.node, 0, k.me) // nobody has joined, and nobody joins a line that is gone
		return
	}
	if node < lockHeld|lockNext {
		WaitUntil(k.node, CmpGE, lockHeld|lockNext) // who has joined is about to say so
	}
	// Leave before the next one runs: it may be this PE's turn again soon after.
	node = AtomicSwap(k.node, 0, k.me)
	next := int(node&^lockHeld/lockNext) - 1
	if t := k.placeOf(next); t != nil {
		t.Or(turnHeld) // it leaves its place only after that
		k.ctx.wake(next)
		return
	}
	AtomicOr(k.node, lockHeld, next)
	if k.ctx.word(next, k.node.off, k.node.obj.live) != nil {
		k.ctx.wake(next) // it sleeps for a word of the runtime
	}
}

// A link is a lock as its verbs see it: two words on the default context.
type link struct {
	tail, node Sym[uint32]
	home, me   int
	id         uint64 // of the lock in a turn
	ctx        *Context
}

func linkOf(l Sym[Lock]) link {
	ctx := l.ctx.pe.ctx
	// Homes are spread by Fibonacci hashing, so that many locks burden all PEs alike.
	number := uint64(l.off / sizeof[Lock]())
	home := int(number * 0x9e3779b97f4a7c15 >> 32 % uint64(ctx.npes))
	word := Sym[uint32]{ctx: ctx, obj: l.obj, off: l.off, n: 1}
	node := word
	node.off += sizeof[uint32]()
	return link{tail: word, node: node, home: home, me: ctx.me, id: number + 1, ctx: ctx}
}

// takePlace makes the PE wait at its turn, and returns it, or nil if it has none that is free.
func (k *link) takePlace() *atomic.Uint64 {
	if turns := k.ctx.pe.turns; turns != nil {
		if own := turns.Turn(k.me); own.CompareAndSwap(0, k.id) {
			return own
		}
	}
	return nil
}

// placeOf returns the turn of a PE if it waits for the lock there.
func (k *link) placeOf(pe int) *atomic.Uint64 {
	if turns := k.ctx.pe.turns; turns != nil {
		if t := turns.Turn(pe); t.Load()&turnLock == k.id {
			return t
		}
	}
	return nil
}

// follow tells the PE before who comes next. It may get the lock, and leave its place, meanwhile.
func (k *link) follow(before int) {
	for t := k.placeOf(before); t != nil; t = k.placeOf(before) {
		if w := t.Load(); w&turnLock == k.id && t.CompareAndSwap(w, w|uint64(k.self())*turnNext) {
			return
		}
	}
	AtomicOr(k.node, k.self()*lockNext, before)
}

// await waits for the PE's turn, at own or else at its node. Hand-overs are a switch each
// where PEs outnumber cores.
func (k *link) await(own *atomic.Uint64) {
	for range k.ctx.w.Spin() {
		if own != nil && own.Load() >= turnHeld || own == nil && holds(k.node, CmpGE, lockHeld) {
			return
		}
		spin.Pause()
	}
	if own != nil {
		k.ctx.must("SetLock", -1, k.ctx.pe.turns.WaitTurn(turnHeld))
		return
	}
	c := condition(k.node, CmpGE, lockHeld)
	c.System, c.Long = true, true
	k.ctx.must("SetLock", -1, k.ctx.w.Domain().Wait(c))
}

// self is the calling PE's number in words, where 0 is nobody.
func (k *link) self() uint32 { return uint32(k.me) + 1 }

// enter makes the PE stand in line, and reports whether it did not before.
func (k *link) enter() bool { return AtomicCompareSwap(k.node, 0, lockInLine, k.me) == 0 }
