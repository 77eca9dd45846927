// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/internal/segment"
)

// A policy says how long a wait stays awake. The two regimes differ because a
// futex wake across cores costs 38 µs and a needless spin on a shared core
// costs whoever should run there.
type policy struct {
	spin    int  // looks with a pause between, before Wait
	yields  int  // looks with a sched_yield between, in Wait
	crowded bool // PEs outnumber cores

	nap time.Duration // of the first sleep of a wait
}

// Naps bound sleeps, because a ring may be missed, and a plain store rings
// nobody. Longer costs latency then, shorter costs cores: a PE that napped 5 ms at
// a time used 4–5 % of one, most of it in Go's scheduler, which finds its thread
// blocked and later back. So a wait's naps get longer, up to a bound. The runtime's own words
// are changed by code that rings reliably, or looks again soon.
const (
	firstNap      = 5 * time.Millisecond
	longestNap    = 40 * time.Millisecond
	longestSystem = 160 * time.Millisecond

	// keptNaps is how many naps of a wait on a shared core keep Go's processor: enough
	// for all waits in a row of PEs that run one after the other.
	keptNaps = 10
)

func policyFor(pes, cores int) policy {
	if pes <= cores {
		return policy{spin: 400, yields: 400, nap: firstNap}
	}
	return policy{spin: 20, yields: 64, nap: firstNap, crowded: true}
}

// Wait implements [fabric.Domain].
func (d *Domain) Wait(c fabric.Cond) error {
	p := d.word(c.PE, c.Off)
	if c.Holds(loadWord(p, c.Type.Size())) {
		d.noteAcquire(c.Off)
		return nil
	}
	// What this PE has stored may be what others sleep for.
	d.wakeUsers()
	if d.driver != nil {
		return d.waitDriven(c)
	}
	yields := d.policy.yields
	if c.Long && d.policy.crowded {
		yields = 0
	}
	for i := 1; i <= yields; i++ {
		d.giveWay()
		if c.Holds(loadWord(p, c.Type.Size())) {
			d.noteAcquire(c.Off)
			return nil
		}
		// sched_yield lets other processes run, Gosched this one's goroutines.
		if i&7 == 0 {
			runtime.Gosched()
		}
	}
	if err := d.waits.sleep(fabric.Conds{Cond: c, N: 1}); err != nil {
		return err
	}
	d.noteAcquire(c.Off)
	return nil
}

// wakeUsers wakes who sleeps for words of the heap. Whoever changes the runtime's own
// wakes those who sleep for them.
func (d *Domain) wakeUsers() {
	fullFence(&d.waits.fence)
	if d.ctl.Sleepers.Load() != 0 {
		d.Wake(-1)
	}
}

// Wake implements [fabric.Domain].
func (d *Domain) Wake(pe int) {
	if d.ctl.Sleepers.Load() == 0 && d.ctl.Resting.Load() == 0 {
		return
	}
	if pe >= 0 {
		d.ring(pe - d.layout.First)
		return
	}
	for i := range d.layout.PEs {
		d.ring(i)
	}
}

// ring wakes the node's i-th PE if it sleeps and what it sleeps for may have come.
func (d *Domain) ring(i int) {
	st := d.ctl.Status(i)
	sleeping := st.Sleeping.Load()
	switch sleeping {
	case segment.Awake:
		return
	case segment.SleepOne:
		// The words may be those of two different sleeps. Then a ring is
		// missed, or one too many given: the nap bounds the first.
		how := st.CondHow.Load()
		c := fabric.Cond{
			PE:    int(st.CondPE.Load()),
			Off:   uintptr(st.CondOff.Load()),
			Type:  fabric.Datatype(how >> 8),
			Cmp:   fabric.Cmp(how & 0xff),
			Value: st.CondVal.Load(),
		}
		if d.contains(c) && !c.Holds(loadWord(d.word(c.PE, c.Off), c.Type.Size())) {
			return
		}
	}
	// One ring is enough until the PE sleeps anew: until it runs, others may come by.
	if st.Sleeping.CompareAndSwap(sleeping, segment.Awake) {
		st.Doorbell.Add(1)
		futexWake(&st.Doorbell)
	}
}

// contains reports whether a condition from another PE's status page names a
// word that can be read.
func (d *Domain) contains(c fabric.Cond) bool {
	if c.PE < d.layout.First || c.PE >= d.layout.First+d.layout.PEs || !c.Type.Integer() {
		return false
	}
	return c.Off <= d.layout.Size-8 && c.Off%uintptr(c.Type.Size()) == 0 || c.Off == d.turnOff(c.PE)
}

// waits are the goroutines of one PE that sleep in Wait. One of them, the
// leader, sleeps on the doorbell for all; the others park on channels, so that
// thousands of waiting goroutines need one thread.
type waits struct {
	d     *Domain
	pool  sync.Pool
	_     [64]byte
	fence uint32
	_     [60]byte

	mu      sync.Mutex
	parked  []*parked // every waiting goroutine, the leader too
	leading bool
}

// parked is one waiting goroutine.
type parked struct {
	conds fabric.Conds
	done  bool          // its conditions held, or the job is ending
	wake  chan struct{} // for others than the leader: done, or time to lead
}

func (w *waits) init(d *Domain) {
	w.d = d
	w.pool.New = func() any { return &parked{wake: make(chan struct{}, 1)} }
}

// sleep returns once s holds.
func (w *waits) sleep(s fabric.Conds) error {
	me := w.pool.Get().(*parked)
	me.conds, me.done = s, false
	w.mu.Lock()
	w.parked = append(w.parked, me)
	if w.leading {
		// The leader published what it sleeps for; now there is more.
		w.d.status.Doorbell.Add(1)
		w.mu.Unlock()
		futexWake(&w.d.status.Doorbell)
		<-me.wake
		w.mu.Lock()
	}
	if !me.done {
		w.leading = true
		w.lead(me)
		// Leadership is handed on, never dropped while somebody waits: only the
		// leader settles, so nobody gets two messages.
		w.leading = len(w.parked) > 0
		if w.leading {
			w.parked[0].wake <- struct{}{}
		}
	}
	w.mu.Unlock()
	me.conds = fabric.Conds{}
	w.pool.Put(me)
	return w.d.aborted()
}

// lead sleeps on the doorbell until me is done. It holds mu, except while it sleeps
// or polls.
func (w *waits) lead(me *parked) {
	st, driver := w.d.status, w.d.driver
	polls := 1 // after a ring
	keeps := 0 // naps that may keep the processor
	if w.d.policy.crowded && driver == nil {
		keeps = keptNaps
	}
	nap := w.d.policy.nap
	if me.conds.Long {
		nap = longestNap
	}
	for ; ; nap = nextNap(nap) {
		bell := st.Doorbell.Load()
		if c := &me.conds; len(w.parked) == 1 && c.Single() {
			st.CondPE.Store(uint32(c.PE))
			st.CondOff.Store(uint64(c.Off))
			st.CondHow.Store(uint32(c.Cmp) | uint32(c.Type)<<8)
			st.CondVal.Store(c.Value)
			st.Sleeping.Store(segment.SleepOne)
		} else {
			st.Sleeping.Store(segment.SleepAny)
		}
		// The full fence that pairs with those of Wake's callers: either they
		// see the sleeper, or it sees their stores.
		count, longest := w.counter()
		count.Add(1)
		if driver != nil {
			driver.Handback()
		}
		w.settle(me)
		begin, rung := time.Time{}, false
		if !me.done {
			w.mu.Unlock()
			if driver != nil {
				begin = time.Now()
			}
			if keeps--; keeps >= 0 && alone() {
				futexNap(&st.Doorbell, bell, firstNap)
			} else {
				futexWait(&st.Doorbell, bell, min(nap, max(longest, w.d.policy.nap)))
			}
			rung = st.Doorbell.Load() != bell
			w.mu.Lock()
		}
		st.Sleeping.Store(segment.Awake)
		count.Add(^uint32(0))
		w.settle(me)
		if driver != nil && rung {
			polls = w.d.policy.pollsAfter(polls, time.Since(begin))
			w.poll(me, polls)
		}
		if me.done {
			return
		}
	}
}

// alone reports whether it seems that no other goroutine of this PE wants to run: it lets
// them, and sees whether that took longer than to find none.
func alone() bool {
	begin := time.Now()
	runtime.Gosched()
	return time.Since(begin) < 20*time.Microsecond
}

// nextNap returns how long the nap after one of this length may be, before the wait's
// own bound.
func nextNap(nap time.Duration) time.Duration { return min(2*nap, longestSystem) }

// counter returns the node's count of sleepers that this PE's sleep goes into,
// and how long it may last.
func (w *waits) counter() (count *atomic.Uint32, longest time.Duration) {
	for _, p := range w.parked {
		if !p.conds.System {
			return &w.d.ctl.Sleepers, longestNap
		}
	}
	return &w.d.ctl.Resting, longestSystem
}

// settle takes those whose condition holds off the list, and wakes them,
// except the leader me, who runs.
func (w *waits) settle(me *parked) {
	ending := w.d.aborted() != nil
	keep := w.parked[:0]
	for _, p := range w.parked {
		if !ending && !w.d.holds(&p.conds) {
			keep = append(keep, p)
			continue
		}
		p.done = true
		if p != me {
			p.wake <- struct{}{}
		}
	}
	clear(w.parked[len(keep):])
	w.parked = keep
}

// noteAcquire tells the race detector that what preceded the update of the
// word at off is visible now.
func (d *Domain) noteAcquire(off fabric.Addr) {
	if race.Enabled {
		d.tokens.Acquire(off)
	}
}

// schedYield gives the core to another process. RawSyscall is right: the call
// does not block, and telling Go's scheduler would cost more than it does.
func schedYield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
