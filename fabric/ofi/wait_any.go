// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"fmt"

	"github.com/goshmem/goshmem/fabric"
)

// Look implements [fabric.Domain].
func (d *Domain) Look(c fabric.Cond) bool {
	if !c.Holds(d.word(c.Off).load(c.Type.Size())) {
		return false
	}
	d.tokens.Acquire(c.Off)
	return true
}

// WaitAny implements [fabric.Domain].
func (d *Domain) WaitAny(s fabric.Conds) error {
	size := uintptr(s.Type.Size())
	if end := uintptr(len(d.segment)); s.PE != d.job.PE || !s.Type.Integer() || s.Off > end || uintptr(s.N) > (end-s.Off)/size || s.Off%size != 0 {
		return fmt.Errorf("fabric/ofi: wait for %d words, each a %v, at offset %d of PE %d, which has %d bytes; this is PE %d", s.N, s.Type, s.Off, s.PE, end, d.job.PE)
	}
	d.flushDirty()
	held, err := d.pollAny(&s, d.slices)
	if err == nil && !held {
		p := d.waits.take()
		p.any = s
		if err = d.waits.sleep(p); err == nil {
			d.waits.put(p)
		}
	}
	for i := range s.N {
		if c, counts := s.At(i); err == nil && counts {
			d.Look(c) // for its note
		}
	}
	return err
}

// pollAny is poll for several words.
func (d *Domain) pollAny(s *fabric.Conds, slices int) (held bool, err error) {
	for i := range slices {
		if err := d.ended(); err != nil {
			return false, err
		}
		if d.holds(s) {
			return true, nil
		}
		d.Progress()
		d.giveTurn(i)
	}
	return d.holds(s), nil
}

// holds reports whether s holds.
func (d *Domain) holds(s *fabric.Conds) bool {
	for i := range s.N {
		if c, counts := s.At(i); counts && c.Holds(d.word(c.Off).load(c.Type.Size())) {
			return true
		}
	}
	return s.Stopped()
}
