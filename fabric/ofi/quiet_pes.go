// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import "slices"

// QuietPEs implements [fabric.PEQuieter]: it waits for completions of operations to
// these PEs, whatever is in flight to others. Where completions come before delivery it
// also reads from those PEs that were written to.
func (e *Endpoint) QuietPEs(pes []int) error {
	if err := e.usable(); err != nil || len(pes) == 0 {
		return err
	}
	if err := e.flush(); err != nil {
		return err
	}
	list := make([]int32, len(pes))
	for i, pe := range pes {
		list[i] = int32(pe)
	}
	slices.Sort(list)
	var written map[int]bool
	if e.d.readBack {
		written = e.written.among(pes)
	}
	if err := e.settlePEs(list); err != nil {
		return err
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
