// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/move"
)

// finish completes the own stores and waits for everyone's.
func (g *Group) finish(c Call) error {
	if err := g.Quiet(); err != nil {
		return err
	}
	return g.Sync(c)
}

// load returns n bytes at off in member q's segment: in place if near, else
// fetched to the second half of scratch. n is at most block.
func (g *Group) load(q int, off fabric.Addr, n int) ([]byte, error) {
	if b := g.bytesAt(q, off, n); b != nil {
		return b, nil
	}
	b := g.buffers()[block : block+n]
	return b, g.w.Endpoint().Get(g.world(q), b, off)
}

// buffers returns the two blocks of a reduction.
func (g *Group) buffers() []byte {
	if g.scratch == nil {
		g.scratch = make([]byte, 2*block)
	}
	return g.scratch
}

// spare is the second half of scratch, empty.
func (g *Group) spare() []byte { return g.scratch[block:block] }

// store copies src to off in member q's segment.
func (g *Group) store(q int, off fabric.Addr, src []byte) error {
	if b := g.bytesAt(q, off, len(src)); b != nil {
		move.Bytes(b, src)
		return nil
	}
	return g.w.Endpoint().Put(g.world(q), off, src)
}

// fetch copies len(dst) bytes at off in member q's segment to dst.
func (g *Group) fetch(q int, dst []byte, off fabric.Addr) error {
	if b := g.bytesAt(q, off, len(dst)); b != nil {
		move.Bytes(dst, b)
		return nil
	}
	return g.w.Endpoint().Get(g.world(q), dst, off)
}
