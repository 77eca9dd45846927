// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
)

// A wait polls in C for a slice of time, several times, with a turn for other
// goroutines in between; then it sleeps. When it is rung it polls again, because
// more will come, and longer if it had not slept long: a PE that waits answers
// others as fast as it can while they keep it busy.
const (
	longest    = 256 // times as many slices as at first
	shortSleep = 500 * time.Microsecond
)

// How long a sleep lasts at most. What comes in rings, but for bare stores, and
// for providers that work by themselves and tell nobody: there naps are short at
// first.
const (
	longNap  = 5 * time.Millisecond
	shortNap = 50 * time.Microsecond
	lastNap  = time.Millisecond
)

// Wait implements [fabric.Domain]. The word is one of the own segment.
func (d *Domain) Wait(c fabric.Cond) error {
	if c.PE != d.job.PE {
		return fmt.Errorf("fabric/ofi: wait: the word is PE %d's, and this is PE %d", c.PE, d.job.PE)
	}
	if !c.Type.Integer() || uintptr(len(d.segment)) < 8 || c.Off > uintptr(len(d.segment)-int(c.Type.Size())) || c.Off%uintptr(c.Type.Size()) != 0 {
		return fmt.Errorf("fabric/ofi: wait for a %v at offset %d of %d bytes", c.Type, c.Off, len(d.segment))
	}
	d.flushDirty()
	w := d.word(c.Off)
	held, err := d.poll(w, c, d.slices)
	if err == nil && !held {
		p := d.waits.take()
		p.word, p.cond = w, c
		if err = d.waits.sleep(p); err == nil {
			d.waits.put(p)
		}
	}
	if err != nil {
		return err
	}
	d.tokens.Acquire(c.Off)
	return nil
}

// await returns once what p waits for has come, which a call has polled for already.
func (d *Domain) await(p *parked) error {
	held, err := d.poll(p.word, p.cond, d.slices-1)
	if err == nil && !held {
		p.done = false
		err = d.waits.sleep(p)
	}
	return err
}

// poll reports whether c held for w within so many slices.
func (d *Domain) poll(w word, c fabric.Cond, slices int) (held bool, err error) {
	for i := range slices {
		if err := d.ended(); err != nil {
			return false, err
		}
		if c.Holds(w.load(c.Type.Size())) || d.shim.waitWord(w, c, d.spin) {
			return true, nil
		}
		d.giveTurn(i)
	}
	return false, nil
}

// giveTurn lets others run after slice i of a wait.
func (d *Domain) giveTurn(i int) {
	switch {
	case d.o.Crowded:
		schedYield() // from Go: a call into C that lasts costs its goroutine the processor
		if i&7 == 7 {
			runtime.Gosched()
		}
	case d.single:
		runtime.Gosched()
	default:
		d.turns.call()
	}
}

// schedYield gives the core to another process. RawSyscall is right: the call
// does not block, and telling Go's scheduler would cost more than it does.
func schedYield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// Wake implements [fabric.Domain].
func (d *Domain) Wake(pe int) {
	if pe < 0 || pe == d.job.PE {
		d.ring()
	}
}

// Sleepers implements [fabric.Domain]. The own PE is the only near one.
func (d *Domain) Sleepers() *uint32 { return d.shim.sleepersWord() }

// ring wakes the sleeping goroutine if there is one. Calls that have polled do
// it: what they polled in may be what it sleeps for.
func (d *Domain) ring() {
	if d.sleepers.Load() != 0 {
		d.doorbell.Add(1)
		futexWake(d.doorbell)
	}
	if o := d.other.Load(); o != nil && atomic.LoadUint32(o.sleepers) != 0 {
		ringShared(o.doorbell)
	}
}

// A waker is the words of another fabric's waits.
type waker struct{ sleepers, doorbell *uint32 }

// SetWaker makes progress wake another fabric's waits too: whenever memory may
// have been written, and the word sleepers is not 0, doorbell is incremented and
// woken as a futex that processes share. Both words stay mapped until the process ends.
func (d *Domain) SetWaker(sleepers, doorbell *uint32) {
	d.other.Store(&waker{sleepers, doorbell})
	d.shim.setWaker(sleepers, doorbell)
}

// Progress makes one pass of progress. Whoever polls with it and then sleeps calls
// [Domain.Handback] before.
func (d *Domain) Progress() {
	d.shim.progress()
	d.ring()
}

// Handback tells the domain's thread that nobody polls any more. Whoever has called
// Progress calls it before it sleeps, and after it has counted itself in the
// sleepers word that SetWaker was given.
func (d *Domain) Handback() {
	d.handback.Add(1)
	if d.standing.Load() != 0 {
		futexWake(d.handback)
	}
}

// waits are the goroutines that wait longer than a spin: for a word, for
// operations, or for an endpoint's epochs. One of them, the leader, sleeps on the
// doorbell for all; the others park on channels, so that thousands of waiting
// goroutines need one thread.
type waits struct {
	d    *Domain
	pool sync.Pool

	mu      sync.Mutex
	parked  []*parked // every waiting goroutine, the leader too
	leading bool
}

// parked is one waiting goroutine.
type parked struct {
	word word
	cond fabric.Cond  // of word
	any  fabric.Conds // in place of both, if it has words

	pin   runtime.Pinner // of what operations in flight use
	owner *Endpoint      // of operations that were given up, kept alive for them
	done  bool           // what it waits for has come, or the job is ending
	wake  chan struct{}  // for others than the leader: done, or time to lead
}

func (w *waits) init(d *Domain) {
	w.d = d
	w.pool.New = func() any { return &parked{wake: make(chan struct{}, 1)} }
}

func (w *waits) take() *parked {
	p := w.pool.Get().(*parked)
	p.done = false
	return p
}

// put gives p back. Its pins have been taken off.
func (w *waits) put(p *parked) {
	p.any = fabric.Conds{}
	w.pool.Put(p)
}

// ready reports whether what p waits for has come.
func (w *waits) ready(p *parked) bool {
	if p.any.N > 0 {
		return w.d.holds(&p.any)
	}
	return p.cond.Holds(p.word.load(p.cond.Type.Size()))
}

// sleep returns once what me waits for has come. With an error it may not have,
// because the job is ending.
func (w *waits) sleep(me *parked) error {
	w.mu.Lock()
	w.parked = append(w.parked, me)
	if w.leading {
		w.mu.Unlock()
		w.d.ring() // the leader looks at more now
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
	if w.ready(me) {
		return nil
	}
	return w.d.ended()
}

// lead sleeps on the doorbell until me is done. It holds mu, except while it sleeps
// or polls.
func (w *waits) lead(me *parked) {
	d := w.d
	nap, slices := longNap, d.slices
	if d.auto {
		nap = shortNap
	}
	for {
		bell := d.doorbell.Load()
		// The full fence that pairs with the one of who rings: either it sees the
		// sleeper, or the sleeper sees what it did.
		d.sleepers.Add(1)
		d.Handback()
		w.settle(me)
		rung := false
		if !me.done {
			w.mu.Unlock()
			begin := time.Now()
			futexWait(d.doorbell, bell, nap)
			if rung = d.doorbell.Load() != bell; rung && time.Since(begin) < shortSleep {
				slices = min(2*slices, longest*d.slices)
			} else {
				slices = d.slices
			}
			w.mu.Lock()
		}
		d.sleepers.Add(^uint32(0))
		for i := 0; ; i++ {
			w.settle(me)
			if me.done {
				return
			}
			if !rung || d.auto || d.o.Crowded || i == slices {
				break
			}
			w.mu.Unlock()
			if me.any.N > 0 {
				_, _ = d.pollAny(&me.any, 1)
			} else {
				_, _ = d.poll(me.word, me.cond, 1) // settle looks again
			}
			w.mu.Lock()
		}
		if d.auto {
			nap = min(2*nap, lastNap)
		}
	}
}

// settle takes those who have waited enough off the list, and wakes them, except
// the leader me, who runs.
func (w *waits) settle(me *parked) {
	ending := w.d.ended() != nil
	keep := w.parked[:0]
	for _, p := range w.parked {
		if !ending && !w.ready(p) {
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
