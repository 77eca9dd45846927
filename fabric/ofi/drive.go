// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"sync"

	"github.com/goshmem/goshmem/fabric"
)

// A Domain can be driven by another one's waits: SetWaker, Handback and Ended are with
// its own.
var _ fabric.Driver = (*Domain)(nil)

// A door keeps out who would poll a domain that is closed: another domain's waits may outlast
// it, since a program may leave a goroutine waiting for ever.
type door struct {
	mu   sync.RWMutex
	shut bool
}

// enter reports whether the domain is open. If so, it stays so until leave.
func (g *door) enter() bool {
	g.mu.RLock()
	if g.shut {
		g.mu.RUnlock()
		return false
	}
	return true
}

func (g *door) leave() { g.mu.RUnlock() }

// close waits for those inside.
func (g *door) close() {
	g.mu.Lock()
	g.shut = true
	g.mu.Unlock()
}

// Poll implements [fabric.Driver]: it polls as long as a Wait does before it sleeps.
func (d *Domain) Poll(c fabric.Cond) bool {
	if !d.door.enter() {
		return false
	}
	defer d.door.leave()
	d.flushDirty()
	if c.PE != d.job.PE {
		d.Progress()
		return false
	}
	held, _ := d.poll(d.word(c.Off), c, d.slices) // the caller looks at Ended
	d.ring()                                      // what was polled in may be what another goroutine sleeps for
	return held
}
