// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"time"

	"github.com/goshmem/goshmem/internal/race"
)

// A gate opens once everything that joined it has left. Its fields are guarded
// by the mutex of the endpoint that made it.
type gate struct {
	pending int           // joined and not left, and one more until it is sealed
	opened  chan struct{} // closed when pending is 0
	next    *gate         // is left when this one opens, or nil
	latest  time.Duration // when the last of them is due
	token   race.Token    // from those who left to those who wait
}

// newGate returns a gate that is not sealed yet.
func newGate() *gate { return &gate{pending: 1, opened: make(chan struct{})} }

// A stream is an endpoint's operations to one PE. Fence orders them, except for
// gets.
type stream struct {
	target  int
	before  *gate // those before the last Fence that found any, or nil
	current *gate // those since then, or nil
	epoch   *gate // those since the last QuietPEs, gets too
}

//go:norace
func (e *endpoint) nextIssue() uint64 {
	e.mu.Lock()
	e.issued++
	n := e.issued
	e.mu.Unlock()
	return n
}

// enter counts o where it will be waited for, and finds out what it has to wait
// for and until when.
//
//go:norace
func (e *endpoint) enter(o *operation) {
	e.mu.Lock()
	race.Disable()
	e.joinGates(o)
	e.schedule(o, o.piece)
	race.Enable()
	e.mu.Unlock()
}

// joinGates needs mu, and the detector disabled.
//
//go:norace
func (e *endpoint) joinGates(o *operation) {
	join(e.epoch, o, 0)
	join(o.done, o, 1)
	s := e.stream(o.target)
	join(s.epoch, o, 3)
	if o.kind != Get {
		if s.current == nil {
			s.current = newGate()
		}
		join(s.current, o, 2)
		o.fenced = s.before
	}
}

//go:norace
func join(g *gate, o *operation, i int) {
	if g != nil {
		g.pending++
		o.joined[i] = g
	}
}

// exit is the end of o.
//
//go:norace
func (e *endpoint) exit(o *operation) {
	e.mu.Lock()
	race.Disable()
	for i := range o.joined {
		leave(o.joined[i])
	}
	if o.at != 0 {
		e.flying.remove(o.at)
	}
	race.Enable()
	e.mu.Unlock()
}

//go:norace
func (e *endpoint) leave(g *gate) {
	e.mu.Lock()
	race.Disable()
	leave(g)
	race.Enable()
	e.mu.Unlock()
}

// leave needs the endpoint's mu, and the detector disabled.
//
//go:norace
func leave(g *gate) {
	for g != nil {
		if g.pending--; g.pending > 0 {
			return
		}
		close(g.opened)
		g = g.next
	}
}

// stream returns the stream to target, made at first use: an endpoint of a job
// of thousands talks to few. The caller has mu.
//
//go:norace
func (e *endpoint) stream(target int) *stream {
	lo, hi := 0, len(e.streams)
	for lo < hi {
		if mid := (lo + hi) / 2; e.streams[mid].target < target {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(e.streams) && e.streams[lo].target == target {
		return e.streams[lo]
	}
	s := &stream{target: target, epoch: newGate()}
	e.streams = append(e.streams, s)
	for i := len(e.streams) - 1; i > lo; i-- {
		e.streams[i] = e.streams[i-1]
	}
	e.streams[lo] = s
	return s
}

// fence starts new streams' gates where something was posted since the last.
//
//go:norace
func (e *endpoint) fence() {
	e.mu.Lock()
	race.Disable()
	for i := range e.streams {
		if s := e.streams[i]; s.current != nil {
			leave(s.current)
			s.before, s.current = s.current, nil
		}
	}
	race.Enable()
	e.mu.Unlock()
}

// seal ends the epoch and returns its gate, which opens once everything posted
// so far is delivered, and whatever is posted meanwhile does not hold up. It
// returns nil if nothing is outstanding.
//
//go:norace
func (e *endpoint) seal() *gate {
	e.mu.Lock()
	race.Disable()
	g := seal(&e.epoch)
	race.Enable()
	e.mu.Unlock()
	return g
}

// sealTarget is seal for what was posted to one PE.
//
//go:norace
func (e *endpoint) sealTarget(pe int) *gate {
	e.mu.Lock()
	race.Disable()
	g := seal(&e.stream(pe).epoch)
	race.Enable()
	e.mu.Unlock()
	return g
}

// seal needs the endpoint's mu, and the detector disabled.
//
//go:norace
func seal(epoch **gate) *gate {
	g := *epoch
	if g.pending == 1 {
		return nil
	}
	// The next epoch also waits for this one.
	next := newGate()
	next.pending++
	g.next = next
	*epoch = next
	leave(g)
	return g
}

// await waits until g opens. It reports false if the world was aborted first.
func (w *World) await(g *gate) bool {
	if !w.passes(g) {
		return false
	}
	g.token.Acquire()
	return true
}

//go:norace
func (w *World) passes(g *gate) bool {
	race.Disable()
	defer race.Enable()
	select {
	case <-g.opened:
		return true
	case <-w.aborted:
		return false
	}
}

// due waits until o may be delivered. It reports false if it never may, because
// the world was aborted.
//
//go:norace
func (e *endpoint) due(o *operation) bool {
	race.Disable()
	defer race.Enable()
	if o.held {
		<-e.w.aborted
		return false
	}
	if o.at > 0 {
		// Not a timer: its goroutine would hand on order that is not there.
		time.Sleep(o.at - time.Since(e.w.began))
	}
	if o.fenced != nil && !e.w.passes(o.fenced) {
		return false
	}
	if o.after != nil && !e.w.passes(o.after) {
		return false
	}
	select {
	case <-e.w.aborted:
		return false
	default:
		return true
	}
}
