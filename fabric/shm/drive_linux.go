// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"runtime"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/segment"
)

// Where some PEs are far, waits poll the fabric that reaches them, because it moves
// only while it is polled: by who waits here, as long as that stays awake, and
// by the fabric's own thread otherwise, which rings the doorbell that sleepers
// sleep on.

// After a short sleep more will come soon, so it is worth polling for longer
// before the next: a PE that waits then answers others as fast as it can while
// they keep it busy.
const (
	mostPolls  = 4096
	shortSleep = 500 * time.Microsecond
)

// Drive implements [fabric.Driven].
func (d *Domain) Drive(driver fabric.Driver) {
	d.driver = driver
	driver.SetWaker(segment.Word(&d.status.Sleeping), segment.Word(&d.status.Doorbell))
}

// waitDriven is Wait after the first look.
func (d *Domain) waitDriven(c fabric.Cond) error {
	if !d.driver.Poll(c) && !c.Holds(loadWord(d.word(c.PE, c.Off), c.Type.Size())) {
		if d.policy.crowded {
			d.giveWay()
		}
		runtime.Gosched()
		if err := d.waits.sleep(fabric.Conds{Cond: c, N: 1}); err != nil {
			return err
		}
	}
	d.noteAcquire(c.Off)
	return nil
}

// pollFor returns what the driver is to poll for: a word of the own segment, if that is
// all that is waited for.
func pollFor(s *fabric.Conds) fabric.Cond {
	if s.Single() {
		return s.Cond
	}
	return fabric.Cond{PE: -1} // nobody's: it polls once
}

// pollsAfter returns how often to poll after a sleep that was rung.
func (p *policy) pollsAfter(polls int, slept time.Duration) int {
	if p.crowded || slept >= shortSleep {
		return 1
	}
	return min(2*polls, mostPolls)
}

// poll polls up to n times until me is done. The caller, which leads, holds mu.
func (w *waits) poll(me *parked, n int) {
	for range n {
		if me.done {
			return
		}
		w.mu.Unlock()
		w.d.driver.Poll(pollFor(&me.conds)) // settle looks again
		runtime.Gosched()
		w.mu.Lock()
		w.settle(me)
	}
}
