// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/goshmem/goshmem/fabric"
)

// A peer is a PE that this one has talked to.
type peer struct {
	addr    uint64 // in the address vector
	segment region
	control region
	token   uint64 // that letters to it carry, 0: it receives none
}

// chunkSize is how many peers share a piece of the table.
const chunkSize = 256

type chunk [chunkSize]atomic.Pointer[peer]

// peers is the table of PEs. Its pieces and entries are made at first use, so a
// PE that talks to few of very many has little of it.
type peers struct {
	// Set by connect; read-only afterwards.
	blobs  fabric.Table
	chunks []atomic.Pointer[chunk]

	mu sync.Mutex // for changes of the table
}

// connect checks every blob against the own one and keeps them.
func (t *peers) connect(blobs fabric.Table, npes int, own blob) error {
	if blobs.NPEs() != npes {
		return fmt.Errorf("fabric/ofi: connect: %d addresses for %d PEs", blobs.NPEs(), npes)
	}
	for pe := range npes {
		b, err := decodeBlob(blobs.Blob(pe))
		switch {
		case err != nil:
			return fmt.Errorf("fabric/ofi: connect: PE %d: %w", pe, err)
		case b.provider != own.provider:
			return fmt.Errorf("fabric/ofi: connect: PE %d uses provider %s, this one %s: choose one for all by FI_PROVIDER", pe, b.provider, own.provider)
		case b.version != own.version:
			return fmt.Errorf("fabric/ofi: connect: PE %d has libfabric %s, this one %s: they must be the same", pe, versionText(b.version), versionText(own.version))
		}
	}
	t.blobs = blobs
	t.chunks = make([]atomic.Pointer[chunk], (npes+chunkSize-1)/chunkSize)
	return nil
}

func versionText(v uint32) string { return fmt.Sprintf("%d.%d", v>>16, v&0xffff) }

// get returns PE pe, or nil if it was not added yet. pe is below the job's size.
func (t *peers) get(pe int) *peer {
	if c := t.chunks[pe/chunkSize].Load(); c != nil {
		return c[pe%chunkSize].Load()
	}
	return nil
}

// add returns PE pe, and adds it to the address vector if it is not there.
func (t *peers) add(pe int, insert func(name []byte) (uint64, error)) (*peer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.get(pe); p != nil {
		return p, nil
	}
	b, err := decodeBlob(t.blobs.Blob(pe))
	if err != nil {
		return nil, err // it was fine in connect: somebody has written to it since
	}
	addr, err := insert(b.name)
	if err != nil {
		return nil, err
	}
	p := &peer{addr, b.segment, b.control, b.token}
	c := t.chunks[pe/chunkSize].Load()
	if c == nil {
		c = new(chunk)
		t.chunks[pe/chunkSize].Store(c)
	}
	c[pe%chunkSize].Store(p)
	return p, nil
}

// target returns where an operation on size bytes at off of PE pe's segment goes.
// op is what it is called in an error.
func (d *Domain) target(op string, pe int, off fabric.Addr, size int) (target, error) {
	p, err := d.peer(op, pe)
	if err != nil {
		return target{}, err
	}
	if uint64(off) > p.segment.size || uint64(size) > p.segment.size-uint64(off) {
		return target{}, fmt.Errorf("fabric/ofi: %s to PE %d: %d bytes at offset %d lie outside its segment of %d bytes", op, pe, size, off, p.segment.size)
	}
	return p.segment.target(p.addr, pe, off), nil
}

func (d *Domain) peer(op string, pe int) (*peer, error) {
	if uint(pe) >= uint(d.job.NPEs) || d.peers.chunks == nil {
		return nil, fmt.Errorf("fabric/ofi: %s: no PE %d among the %d connected", op, pe, d.peers.blobs.NPEs())
	}
	if p := d.peers.get(pe); p != nil {
		return p, nil
	}
	p, err := d.peers.add(pe, d.shim.insert)
	if err != nil {
		return nil, failed(op, pe, err)
	}
	return p, nil
}
