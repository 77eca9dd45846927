// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"maps"
	"sync"
)

// Some providers' completions come before delivery. There Quiet also reads from every PE
// that was written to: what is read comes behind what was written before, on the
// same connection.

// written are the PEs that an endpoint has to read back from.
type written struct {
	settling sync.Mutex // held by a Quiet from taking pes until it has read from them

	mu  sync.Mutex // for what follows
	pes map[int]bool
}

// wrote notes that PE pe was written to. It is called after the post: were it before,
// the Quiet of another goroutine might read in between, and the caller's own not at all.
func (e *Endpoint) wrote(pe int) {
	if !e.d.readBack {
		return
	}
	e.written.mu.Lock()
	e.written.pes[pe] = true
	e.written.mu.Unlock()
}

// settleBack is settle where Quiet reads back. One goroutine does so at a time, so that
// none returns while another still reads behind its puts.
func (e *Endpoint) settleBack(take bool) error {
	w := &e.written
	w.settling.Lock()
	defer w.settling.Unlock()
	w.mu.Lock()
	left := w.pes
	w.pes = map[int]bool{}
	w.mu.Unlock()
	err := e.settleCounted(take) // what was noted before is complete then, and read behind
	if err == nil {
		err = e.readBack(left)
	}
	if err != nil {
		w.mu.Lock()
		maps.Copy(w.pes, left)
		w.mu.Unlock()
	}
	return err
}

// readBack reads from the PEs and removes those that answered.
func (e *Endpoint) readBack(pes map[int]bool) error {
	for pe := range pes {
		p, err := e.d.peer("get", pe)
		if err != nil {
			return err
		}
		t := p.control.target(p.addr, pe, 8) // a word that nobody uses
		word := make([]byte, 8)
		if _, err := e.drive("get", pe, word, func(from uint64, w waiter) result { return e.s.get(t, word, from, false, w) }); err != nil {
			return err
		}
		delete(pes, pe)
	}
	return nil
}
