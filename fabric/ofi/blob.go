// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A region is registered memory as its peers name it.
type region struct {
	key, base uint64 // base: what to add to an offset
	size      uint64 // bytes
}

// target returns where off is for the provider. Callers have checked the range.
func (r region) target(addr uint64, pe int, off uintptr) target {
	return target{addr: addr, at: r.base + uint64(off), key: r.key, pe: pe}
}

// A blob is what a PE tells the others about itself:
//
//	4      magic
//	4      libfabric's version
//	1, n   provider
//	2, n   endpoint's address
//	24     segment: key, base, size
//	16     control page: key, base
//	8      token of letters, 0: none are received
//
// in little-endian order.
type blob struct {
	version  uint32
	provider string
	name     []byte
	segment  region
	control  region
	token    uint64
}

const (
	blobMagic   = "ofi\x02"
	maxName     = 512 // bytes of an address
	maxProvider = 255
)

// encode returns the blob's bytes.
func (b blob) encode() ([]byte, error) {
	if len(b.provider) > maxProvider || len(b.name) > maxName {
		return nil, fmt.Errorf("provider of %d bytes (at most %d), address of %d (at most %d)", len(b.provider), maxProvider, len(b.name), maxName)
	}
	le := binary.LittleEndian
	p := append([]byte(nil), blobMagic...)
	p = le.AppendUint32(p, b.version)
	p = append(p, byte(len(b.provider)))
	p = append(p, b.provider...)
	p = le.AppendUint16(p, uint16(len(b.name)))
	p = append(p, b.name...)
	for _, v := range []uint64{b.segment.key, b.segment.base, b.segment.size, b.control.key, b.control.base, b.token} {
		p = le.AppendUint64(p, v)
	}
	return p, nil
}

// decodeBlob reads a blob that another PE wrote. name aliases p.
func decodeBlob(p []byte) (blob, error) {
	le := binary.LittleEndian
	var b blob
	take := func(n int) []byte {
		if n > len(p) {
			p = nil
			return nil
		}
		head := p[:n]
		p = p[n:]
		return head
	}
	if string(take(len(blobMagic))) != blobMagic {
		return b, errors.New("not an address of this fabric, or one of another version")
	}
	if v := take(4); v != nil {
		b.version = le.Uint32(v)
	}
	if n := take(1); n != nil {
		b.provider = string(take(int(n[0])))
	}
	if n := take(2); n != nil {
		b.name = take(int(le.Uint16(n)))
	}
	words := take(6 * 8)
	switch {
	case words == nil:
		return blob{}, errors.New("address cut short")
	case len(p) != 0:
		return blob{}, fmt.Errorf("address with %d bytes too many", len(p))
	case len(b.name) == 0 || len(b.name) > maxName:
		return blob{}, fmt.Errorf("endpoint address of %d bytes, from 1 to %d are possible", len(b.name), maxName)
	}
	b.segment = region{le.Uint64(words), le.Uint64(words[8:]), le.Uint64(words[16:])}
	b.control = region{le.Uint64(words[24:]), le.Uint64(words[32:]), controlSize}
	b.token = le.Uint64(words[40:])
	for _, r := range [...]region{b.segment, b.control} {
		if r.base+r.size < r.base {
			return blob{}, fmt.Errorf("region of %d bytes at %#x", r.size, r.base)
		}
	}
	return b, nil
}
