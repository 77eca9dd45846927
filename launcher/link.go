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

// A credit bounds the bytes of output that are on their way to the launcher,
// which thus can keep them all, and need not stop reading frames when whoever
// reads its output does not.
type credit struct {
	mu     sync.Mutex
	change sync.Cond
	left   int64
	closed bool
}

// outputWindow is the most bytes of output on their way from a proxy.
const outputWindow = 1 << 20

func newCredit() *credit {
	c := &credit{left: outputWindow}
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
