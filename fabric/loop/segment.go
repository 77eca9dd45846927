// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"sync/atomic"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// A segment is one PE's memory, and who waits for words of it.
//
// Updates through the fabric and looks of waiters exclude each other by mu, so
// that a waiter finds the release note of the update that it saw. The detector
// does not see mu: the accesses themselves stay as unordered as they are.
type segment struct {
	mem   []byte
	group *group

	mu      race.Mutex
	waiters waiter     // head of a ring
	woken   race.Token // from Wake to Wait
}

// A group is the PEs that are near each other.
type group struct {
	sleepers uint32 // goroutines that are in some PE's ring; atomic, read by direct storers
}

// A waiter is a Wait that has to wait.
type waiter struct {
	conds      fabric.Conds
	ready      chan struct{} // closed once conds held
	next, prev *waiter       // in the ring, or nil
}

func newSegment(mem []byte, g *group) *segment {
	s := &segment{mem: mem, group: g}
	s.waiters.next, s.waiters.prev = &s.waiters, &s.waiters
	return s
}

// cell is the granularity in bytes of the notes that connect updates with waits.
const cell = 4

// notedPut is the largest put whose words waits may be for, as far as the
// detector is concerned. Larger ones would cost it a note for each word.
const notedPut = 64

// put carries out a put.
func (s *segment) put(off fabric.Addr, src []byte) {
	s.mu.Lock()
	copy(s.mem[off:], src)
	if len(src) <= notedPut {
		s.noteUpdate(off, fabric.Addr(len(src)))
	}
	s.updated(off, fabric.Addr(len(src)))
	s.mu.Unlock()
}

// get carries out a get. Nothing keeps puts from overtaking it halfway.
func (s *segment) get(dst []byte, off fabric.Addr) { copy(dst, s.mem[off:]) }

// store carries out a put of a word.
func (s *segment) store(off fabric.Addr, size uint8, v uint64) {
	s.mu.Lock()
	s.noteBefore(off, size)
	s.storeWord(off, size, v)
	s.noteUpdate(off, fabric.Addr(size))
	s.updated(off, fabric.Addr(size))
	s.mu.Unlock()
}

// apply carries out an atomic and returns the old value.
func (s *segment) apply(op fabric.Op, dt fabric.Datatype, off fabric.Addr, v, cmp uint64) (old uint64) {
	size := dt.Size()
	s.mu.Lock()
	s.noteBefore(off, size)
	for {
		old = s.loadWord(off, size)
		if op == fabric.OpRead {
			s.noteRead(off, size)
			break
		}
		if s.casWord(off, size, old, fabric.Apply(op, dt, old, v, cmp)) {
			s.noteUpdate(off, fabric.Addr(size))
			s.updated(off, fabric.Addr(size))
			break
		}
	}
	s.mu.Unlock()
	return old
}

// update carries out an atomic that fetches nothing. A write is a store: unlike
// an exchange, it takes no order from whoever wrote the word before.
func (s *segment) update(op fabric.Op, dt fabric.Datatype, off fabric.Addr, v uint64) {
	if op == fabric.OpWrite {
		s.store(off, dt.Size(), v)
	} else {
		s.apply(op, dt, off, v, 0)
	}
}

// noteBefore and noteRead order atomics on small words, which are plain
// accesses in race builds. The others are ordered by being atomic.
func (s *segment) noteBefore(off fabric.Addr, size uint8) {
	if size < 4 {
		race.Acquire(&s.mem[off&^(cell-1)])
	}
}

func (s *segment) noteRead(off fabric.Addr, size uint8) {
	if size < 4 {
		race.Release(&s.mem[off&^(cell-1)])
	}
}

// noteUpdate is for the waits that an update may end.
func (s *segment) noteUpdate(off, size fabric.Addr) {
	if race.Enabled {
		for c := off &^ (cell - 1); c < off+size; c += cell {
			race.Release(&s.mem[c])
		}
	}
}

// noteWait follows a wait for a word.
func (s *segment) noteWait(off, size fabric.Addr) {
	if race.Enabled {
		for c := off &^ (cell - 1); c < off+size; c += cell {
			race.Acquire(&s.mem[c])
		}
		s.woken.Acquire()
	}
}

// updated ends the waits for words in a range whose conditions hold now. The
// caller has mu.
//
//go:norace
func (s *segment) updated(off, size fabric.Addr) {
	race.Disable()
	for w := s.waiters.next; w != &s.waiters; {
		next := w.next
		if c := &w.conds; c.Off < off+size && off < c.Off+fabric.Addr(c.N)*fabric.Addr(c.Type.Size()) && s.holds(c) {
			s.remove(w)
			close(w.ready)
		}
		w = next
	}
	race.Enable()
}

// holds reports whether c holds. The caller has mu.
//
//go:norace
func (s *segment) holds(c *fabric.Conds) bool {
	for i := range c.N {
		if one, counts := c.At(i); counts && one.Holds(s.look(one.Off, one.Type.Size())) {
			return true
		}
	}
	return c.Stopped()
}

// wake ends the waits whose conditions hold.
func (s *segment) wake() {
	s.woken.Release()
	s.mu.Lock()
	s.updated(0, fabric.Addr(len(s.mem)))
	s.mu.Unlock()
}

// add returns a waiter for c, or nil if c holds.
//
//go:norace
func (s *segment) add(c fabric.Conds) *waiter {
	w := &waiter{conds: c, ready: make(chan struct{})}
	s.mu.Lock()
	race.Disable()
	w.prev, w.next = s.waiters.prev, &s.waiters
	w.prev.next, w.next.prev = w, w
	// First say that someone sleeps, then look: whoever stores directly does
	// it the other way round.
	atomic.AddUint32(&s.group.sleepers, 1)
	if s.holds(&w.conds) {
		s.remove(w)
		w = nil
	}
	race.Enable()
	s.mu.Unlock()
	return w
}

// lookFor reports whether c holds.
//
//go:norace
func (s *segment) lookFor(c fabric.Cond) bool {
	s.mu.Lock()
	race.Disable()
	held := c.Holds(s.look(c.Off, c.Type.Size()))
	race.Enable()
	s.mu.Unlock()
	return held
}

// check removes w if its condition holds or if it is to give up, and reports
// whether the condition held, now or before.
//
//go:norace
func (s *segment) check(w *waiter, giveUp bool) (held bool) {
	s.mu.Lock()
	race.Disable()
	held = w.next == nil || s.holds(&w.conds)
	if w.next != nil && (held || giveUp) {
		s.remove(w)
	}
	race.Enable()
	s.mu.Unlock()
	return held
}

// remove takes w out of the ring. The caller has mu.
//
//go:norace
func (s *segment) remove(w *waiter) {
	w.prev.next, w.next.prev = w.next, w.prev
	w.prev, w.next = nil, nil
	atomic.AddUint32(&s.group.sleepers, ^uint32(0))
}
