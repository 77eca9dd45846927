// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import "github.com/goshmem/goshmem/fabric"

// PutV implements [fabric.VectorPutter]: several parts go in one message.
func (e *Endpoint) PutV(pe int, parts []fabric.Part) error {
	return e.vector("vectored put", pe, parts, true)
}

// GetV implements [fabric.VectorGetter]: several parts come in one message, and the
// messages of one list are under way together.
func (e *Endpoint) GetV(pe int, parts []fabric.Part) error {
	e.d.flushDirty()
	return e.vector("vectored get", pe, parts, false)
}

// vector looks at all parts before it posts any. The shim takes a list of them; what
// is longer than a message may be is several.
func (e *Endpoint) vector(op string, pe int, parts []fabric.Part, put bool) error {
	if err := e.usable(); err != nil {
		return err
	}
	var t target
	var base uint64 // of the segment there
	some := false
	for i := range parts {
		if len(parts[i].Data) > 0 {
			var err error
			if t, err = e.target(op, pe, parts[i].Off, len(parts[i].Data)); err != nil {
				return err
			}
			base = t.at - uint64(parts[i].Off)
			some = true
		}
	}
	if put && some {
		defer e.wrote(pe)
	}
	var l partList
	p := e.d.waits.take()
	flush := func() error {
		if l.n == 0 {
			return nil
		}
		_, err := e.drive(op, pe, nil, func(from uint64, w waiter) result { return e.s.list(t, &l, put, from, w) })
		l.n = 0
		return err
	}
	for i := range parts {
		data, remote := parts[i].Data, base+uint64(parts[i].Off)
		if len(data) > 0 {
			p.pin.Pin(&data[0])
		}
		for len(data) > 0 {
			piece := data[:min(uint64(len(data)), e.d.maxMessage)]
			l.add(piece, remote)
			data, remote = data[len(piece):], remote+uint64(len(piece))
			if l.full() {
				if err := flush(); err != nil {
					e.d.lose(p, e)
					return err
				}
			}
		}
	}
	if err := flush(); err != nil {
		e.d.lose(p, e) // some may still be in flight
		return err
	}
	p.pin.Unpin()
	e.d.waits.put(p)
	return nil
}
