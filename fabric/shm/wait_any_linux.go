// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"runtime"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// A wait for several words does what one for a single word does, with one difference: what
// it sleeps for does not fit the status page, so every ring wakes it, and it looks itself.

// Look implements [fabric.Domain].
func (d *Domain) Look(c fabric.Cond) bool {
	if !c.Holds(loadWord(d.word(c.PE, c.Off), c.Type.Size())) {
		return false
	}
	d.noteAcquire(c.Off)
	return true
}

// WaitAny implements [fabric.Domain].
func (d *Domain) WaitAny(s fabric.Conds) error {
	if d.holds(&s) {
		d.noteAll(&s)
		return nil
	}
	d.wakeUsers() // as in Wait
	held := false
	if d.driver != nil {
		d.driver.Poll(pollFor(&s))
		held = d.holds(&s)
		runtime.Gosched()
	}
	for i := 1; i <= d.policy.yields && !held && d.driver == nil; i++ {
		d.giveWay()
		held = d.holds(&s)
		if i&7 == 0 {
			runtime.Gosched()
		}
	}
	if !held {
		if err := d.waits.sleep(s); err != nil {
			return err
		}
	}
	d.noteAll(&s)
	return nil
}

// holds reports whether s holds.
func (d *Domain) holds(s *fabric.Conds) bool {
	for i := range s.N {
		if c, counts := s.At(i); counts && c.Holds(loadWord(d.word(c.PE, c.Off), c.Type.Size())) {
			return true
		}
	}
	return s.Stopped()
}

// noteAll is noteAcquire for the words of s whose conditions hold.
func (d *Domain) noteAll(s *fabric.Conds) {
	for i := 0; i < s.N && race.Enabled; i++ {
		if c, counts := s.At(i); counts {
			d.Look(c)
		}
	}
}
