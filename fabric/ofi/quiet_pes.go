// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import "slices"

// QuietPEs implements [fabric.PEQuieter]: it waits for completions of operations to
// these PEs, whatever is in flight to others. Where completions come before delivery it
// also reads from those PEs that were written to. Where nothing is in flight it takes a few loads.
func (e *Endpoint) QuietPEs(pes []int) error {
	if err := e.usable(); err != nil || len(pes) == 0 {
		return err
	}
	if err := e.flush(); err != nil {
		return err
	}
	if !e.d.readBack && e.s.inflight().Load() == 0 && e.s.failed().Load() == 0 {
		e.d.ring()
		return e.d.ended()
	}
	list := make([]int32, len(pes)) // a few are on the stack
	for i, pe := range pes {
		list[i] = int32(pe)
	}
	slices.Sort(list)
	var written map[int]bool
	if e.d.readBack {
		written = e.written.among(pes)
	}
	err := e.settlePEs(list)
	switch {
	case err != nil:
		return err
	case e.s.failed().Load() != 0:
		return e.Quiet()
	}
	return e.readBack(written)
}

// settlePEs waits for the completions.
func (e *Endpoint) settlePEs(pes []int32) error {
	var n naps
	for {
		again, err := e.drive("quiet", -1, nil, func(uint64, waiter) result { return e.s.quietPEs(pes) })
		if err != nil || again == 0 {
			return err
		}
		if err := n.nap(e.d, -1); err != nil {
			return err
		}
	}
}

// among returns which of pes were written to. They stay noted for Quiet.
func (w *written) among(pes []int) map[int]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := map[int]bool{}
	for _, pe := range pes {
		if w.pes[pe] {
			found[pe] = true
		}
	}
	return found
}
