// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"sync/atomic"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/segment"
)

// Turn implements [fabric.Turner].
func (d *Domain) Turn(pe int) *atomic.Uint64 { return &d.ctl.Status(pe - d.layout.First).Turn }

// WaitTurn implements [fabric.Turner].
func (d *Domain) WaitTurn(v uint64) error {
	me := d.layout.First + d.me
	return d.Wait(fabric.Cond{PE: me, Off: d.turnOff(me), Type: fabric.Uint64, Cmp: fabric.CmpGE, Value: v, System: true, Long: true})
}

// turnOff returns the offset of near PE pe's turn from the start of its segment, as waits take
// it. The word lies before that: the offset wraps around.
func (d *Domain) turnOff(pe int) fabric.Addr {
	i := pe - d.layout.First
	return segment.TurnOffset(i) - d.layout.Offset(i)
}
