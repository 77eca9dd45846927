// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import "github.com/goshmem/goshmem/fabric"

// A Domain can be driven by another one's waits: SetWaker, Handback and Ended are with
// its own.
var _ fabric.Driver = (*Domain)(nil)

// Poll implements [fabric.Driver]: it polls as long as a Wait does before it sleeps.
func (d *Domain) Poll(c fabric.Cond) bool {
	if c.PE != d.job.PE {
		d.Progress()
		return false
	}
	held, _ := d.poll(d.word(c.Off), c, d.slices) // the caller looks at Ended
	d.ring()                                      // what was polled in may be what another goroutine sleeps for
	return held
}
