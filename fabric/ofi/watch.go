// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"cmp"
	"fmt"
	"time"

	"github.com/goshmem/goshmem/fabric"
)

// What a stranger sends can keep a provider busy for good, so that it serves nobody else, and
// nothing tells (docs/security.md). So a PE asks itself something through it every second, and
// ends the job if no answer comes. It counts how often it looked in vain, so that one
// that was stopped meanwhile, or had no core, suspects nobody.
const (
	watchEvery    = time.Second
	watchPatience = 15 // times
)

// watch asks, through s, until endWatch stops it. It is for a domain that is connected.
func (d *Domain) watch(s stream, self target) {
	defer close(d.watched)
	every := cmp.Or(d.lab.watch, watchEvery)
	tick := time.NewTicker(every)
	defer tick.Stop()
	posted := false
	for unanswered := 0; unanswered < watchPatience; {
		select {
		case <-d.stopWatch:
			for begin := time.Now(); s.inflight().Load() != 0 && time.Since(begin) < tellTime; {
				s.quiet(false)
			}
			if s.inflight().Load() == 0 {
				s.close() // otherwise it stays: a completion may still come
			}
			return
		case <-tick.C:
		}
		unanswered++
		if s.inflight().Load() != 0 {
			continue
		}
		if posted && s.failed().Load() == 0 {
			unanswered = 0
		}
		if posted = s.atomic(self, fiOps[fabric.OpSum], int(fabric.Uint64), 0).status == done; posted {
			d.asked.Add(1)
		}
	}
	d.Abort(fmt.Errorf("fabric/ofi: provider %s has answered PE %d's own calls for %v no more: a stranger who connected to %s may have stopped it; tcp;ofi_rxm closes such connections", d.provider, d.job.PE, watchPatience*every, d.Address()))
	<-d.stopWatch
}

// startWatch begins to watch, where that is needed.
func (d *Domain) startWatch() error {
	if !d.verdict.stoppable || !d.native.plain.Has(fabric.OpSum, fabric.Uint64) {
		return nil
	}
	s, err := d.shim.stream(0, false)
	if err != nil {
		return fmt.Errorf("fabric/ofi: connect: %w", err)
	}
	p, err := d.peer("watch", d.job.PE)
	if err != nil {
		s.close()
		return err
	}
	d.stopWatch, d.watched = make(chan struct{}), make(chan struct{})
	go d.watch(s, p.control.target(p.addr, d.job.PE, 0))
	return nil
}

// endWatch ends it.
func (d *Domain) endWatch() {
	if d.stopWatch != nil {
		close(d.stopWatch)
		<-d.watched
	}
}
