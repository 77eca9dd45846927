// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"io"
	"sync"
)

// A link sends frames to the other end. Its methods may be called by several
// goroutines.
type link struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
	err error
}

// send sends a frame in one write. A link that has failed stays silent: the
// other end is gone, which its reader notices.
func (l *link) send(f frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.buf = f.append(l.buf[:0])
	_, l.err = l.w.Write(l.buf)
}

// A relay passes whole frames, encoded, on to a link.
type relay struct{ *link }

// Write sends a frame.
func (r relay) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		_, r.err = r.w.Write(b)
	}
	return len(b), r.err
}

// Close leaves the link to others.
func (r relay) Close() error { return nil }

// A credit bounds the bytes of output that are on their way to the launcher,
// which thus can keep them all, and need not stop reading frames when whoever
// reads its output does not. The same goes for input, the other way.
type credit struct {
	mu     sync.Mutex
	change sync.Cond
	left   int64
	closed bool
}

const (
	// outputWindow is the most bytes of output on their way from a proxy.
	outputWindow = 1 << 20

	// inputWindow is the most bytes of input on their way to PE 0.
	inputWindow = 64 << 10
)

func newCredit(window int64) *credit {
	c := &credit{left: window}
	c.change.L = &c.mu
	return c
}

// take waits until n bytes may be sent, or the credit is closed.
func (c *credit) take(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.left < int64(n) && !c.closed {
		c.change.Wait()
	}
	c.left -= int64(n)
}

// give allows n more bytes.
func (c *credit) give(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left += n
	c.change.Broadcast()
}

// close lets everything pass.
func (c *credit) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.change.Broadcast()
}

// An outbox writes what it is given, in order, from a goroutine of its own: who
// gives never waits for who reads, which may be stopped or gone.
type outbox struct {
	w       io.WriteCloser
	written func(n int) // told how many bytes have been written; may be nil

	mu     sync.Mutex
	change sync.Cond
	queue  [][]byte
	idle   []chan struct{} // to be closed once the queue is written
	closed bool
	ended  bool
}

func newOutbox(w io.WriteCloser, written func(n int)) *outbox {
	o := &outbox{w: w, written: written}
	o.change.L = &o.mu
	go o.run()
	return o
}

// Write queues a copy of b.
func (o *outbox) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.queue = append(o.queue, append([]byte(nil), b...))
		o.change.Signal()
	}
	return len(b), nil
}

// flushed returns a channel that is closed once all that has been given is
// written, or never will be.
func (o *outbox) flushed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	idle := make(chan struct{})
	if o.ended {
		close(idle)
	} else {
		o.idle = append(o.idle, idle)
		o.change.Signal()
	}
	return idle
}

// tellIdle tells who waits that nothing is left to write. o.mu is held.
func (o *outbox) tellIdle() {
	for _, idle := range o.idle {
		close(idle)
	}
	o.idle = nil
}

// Close closes the writer behind it once everything is written.
func (o *outbox) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.change.Signal()
}

func (o *outbox) run() {
	defer func() {
		o.w.Close()
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ended = true
		o.tellIdle()
	}()
	for {
		o.mu.Lock()
		for len(o.queue) == 0 && !o.closed {
			o.tellIdle()
			o.change.Wait()
		}
		queue := o.queue
		o.queue = nil
		o.mu.Unlock()
		if queue == nil {
			return
		}
		for _, b := range queue {
			if _, err := o.w.Write(b); err != nil {
				o.Close() // nobody reads
				return
			}
			if o.written != nil {
				o.written(len(b))
			}
		}
	}
}
