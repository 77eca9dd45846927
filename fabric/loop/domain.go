// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// bareStore is how long a bare store by a near PE can stay unseen by a wait.
const bareStore = 2 * time.Millisecond

// A domain is one PE's.
type domain struct {
	w   *World
	me  int
	own *segment

	mu     race.Mutex
	number int // of the next endpoint
	open   int // endpoints

	batching []*endpoint // those that have had a batch open
}

// Caps implements [fabric.Domain].
func (d *domain) Caps() fabric.Caps {
	direct := d.direct()
	return fabric.Caps{
		Native:       fabric.AllAtomics(),
		Direct:       direct,
		CPUAtomics:   direct && !d.w.o.FabricAtomics,
		InjectSize:   math.MaxInt,
		AutoProgress: true,
	}
}

// direct reports whether near PEs store directly. The race detector would not
// know the order that they may rely on.
func (d *domain) direct() bool { return d.w.o.NodeSize > 0 && !race.Enabled }

// Map implements [fabric.Domain].
func (d *domain) Map(pe int) []byte {
	if pe != d.me && !d.w.near(d.me, pe) {
		return nil
	}
	return d.w.segments[pe].mem
}

// Register implements [fabric.Domain].
func (d *domain) Register(seg []byte) ([]byte, error) {
	if len(seg) != len(d.own.mem) || &seg[0] != &d.own.mem[0] {
		return nil, fmt.Errorf("fabric/loop: register: %d bytes that are not PE %d's segment of %d bytes", len(seg), d.me, len(d.own.mem))
	}
	return binary.BigEndian.AppendUint32(nil, uint32(d.me)), nil
}

// Connect implements [fabric.Domain].
func (d *domain) Connect(blobs fabric.Table) error {
	if blobs.NPEs() != len(d.w.segments) {
		return fmt.Errorf("fabric/loop: connect: %d blobs for %d PEs", blobs.NPEs(), len(d.w.segments))
	}
	for pe := range blobs.NPEs() {
		blob := blobs.Blob(pe)
		if len(blob) != 4 || binary.BigEndian.Uint32(blob) != uint32(pe) {
			return fmt.Errorf("fabric/loop: connect: blob %d, % x, is not from PE %d", pe, blob, pe)
		}
	}
	return nil
}

// Endpoint implements [fabric.Domain].
func (d *domain) Endpoint() (fabric.Endpoint, error) {
	if err := d.w.ended(); err != nil {
		return nil, err
	}
	return newEndpoint(d, d.count(+1)), nil
}

// count counts an endpoint in or out and returns the number for a new one.
//
//go:norace
func (d *domain) count(delta int) (number int) {
	d.mu.Lock()
	d.open += delta
	number = d.number
	if delta > 0 {
		d.number++
	}
	d.mu.Unlock()
	return number
}

// Wait implements [fabric.Domain].
func (d *domain) Wait(c fabric.Cond) error {
	if c.PE != d.me && !d.w.near(d.me, c.PE) {
		return fmt.Errorf("fabric/loop: wait: PE %d is not near PE %d", c.PE, d.me)
	}
	return d.wait(fabric.Conds{Cond: c, N: 1})
}

// WaitAny implements [fabric.Domain].
func (d *domain) WaitAny(c fabric.Conds) error {
	if c.PE != d.me {
		return fmt.Errorf("fabric/loop: wait: PE %d's words, and this is PE %d", c.PE, d.me)
	}
	return d.wait(c)
}

func (d *domain) wait(c fabric.Conds) error {
	s, size := d.w.segments[c.PE], fabric.Addr(c.Type.Size())
	if end := fabric.Addr(len(s.mem)); c.Off >= end || fabric.Addr(c.N) > (end-c.Off)/size || c.Off%size != 0 || !c.Type.Integer() {
		return fmt.Errorf("fabric/loop: wait for %d words, each a %v, at offset %d of %d", c.N, c.Type, c.Off, end)
	}
	if err := d.w.ended(); err != nil {
		return err
	}
	if err := d.flushAll(); err != nil {
		return err
	}
	if w := s.add(c); w != nil && !d.await(s, w) {
		return d.w.ended()
	}
	if c.Single() {
		s.noteWait(c.Off, size)
		return nil
	}
	for i := 0; i < c.N && race.Enabled; i++ {
		if one, counts := c.At(i); counts {
			d.Look(one)
		}
	}
	return nil
}

// Look implements [fabric.Domain].
func (d *domain) Look(c fabric.Cond) bool {
	if !d.own.lookFor(c) {
		return false
	}
	d.own.noteWait(c.Off, fabric.Addr(c.Type.Size()))
	return true
}

// await reports whether w's condition held before the job was aborted. A timer
// is there for bare stores: without them it would keep a deadlock from being
// noticed.
//
//go:norace
func (d *domain) await(s *segment, w *waiter) bool {
	race.Disable()
	defer race.Enable()
	var tick <-chan time.Time
	if d.direct() {
		ticker := time.NewTicker(bareStore)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-w.ready:
			return true
		case <-d.w.aborted:
			return s.check(w, true)
		case <-tick:
			if s.check(w, false) {
				return true
			}
		}
	}
}

// Wake implements [fabric.Domain].
func (d *domain) Wake(pe int) {
	first, end := d.w.node(d.me)
	for i := first; i < end; i++ {
		if pe < 0 || pe == i {
			d.w.segments[i].wake()
		}
	}
}

// Sleepers implements [fabric.Domain]. The own PE counts as near.
func (d *domain) Sleepers() *uint32 { return &d.own.group.sleepers }

// Abort implements [fabric.Domain].
func (d *domain) Abort(err error) { d.w.Abort(err) }

// Close implements [fabric.Domain].
func (d *domain) Close() error {
	if open := d.openEndpoints(); open > 0 && d.w.ended() == nil {
		return fmt.Errorf("fabric/loop: close: PE %d has %d open endpoints", d.me, open)
	}
	return nil
}

//go:norace
func (d *domain) openEndpoints() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}
