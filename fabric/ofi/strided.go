// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"fmt"

	"github.com/goshmem/goshmem/fabric"
)

// span returns the bytes from the first block to the end of the last, or -1 if that
// is no size.
func span(block, blocks, stride int) int {
	if block < 0 || blocks < 0 || stride < 0 {
		return -1
	}
	if blocks == 0 || block == 0 {
		return 0
	}
	const most = 1<<62 - 1
	if stride > 0 && blocks-1 > (most-block)/stride {
		return -1
	}
	return (blocks-1)*stride + block
}

// check returns the bytes that s spans here and there.
func check(op string, pe int, s fabric.Strides, here, there, local int) (remote int, err error) {
	l, r := span(s.Block, s.Blocks, here), span(s.Block, s.Blocks, there)
	if l < 0 || r < 0 || l > local {
		return 0, fmt.Errorf("fabric/ofi: %s to PE %d: %d blocks of %d bytes, %d and %d bytes apart, do not fit %d bytes", op, pe, s.Blocks, s.Block, s.Dst, s.Src, local)
	}
	return r, nil
}

// PutStrided implements [fabric.StridedPutter]: several blocks go in one message.
func (e *Endpoint) PutStrided(pe int, dst fabric.Addr, src []byte, s fabric.Strides) error {
	size, err := check("strided put", pe, s, s.Src, s.Dst, len(src))
	if err != nil || size == 0 {
		return err
	}
	if s.Block == s.Dst && s.Block == s.Src {
		return e.Put(pe, dst, src[:size])
	}
	t, err := e.target("strided put", pe, dst, size)
	if err != nil {
		return err
	}
	defer e.wrote(pe)
	if uint64(s.Block) > e.d.maxMessage {
		for i := range s.Blocks {
			if err := e.Put(pe, dst+uintptr(i*s.Dst), src[i*s.Src:][:s.Block]); err != nil {
				return err
			}
		}
		return nil
	}
	st := strides{block: s.Block, blocks: s.Blocks, local: s.Src, remote: s.Dst}
	post := func(src []byte) error {
		_, err := e.drive("strided put", pe, src, func(from uint64, w waiter) result { return e.s.putStrided(t, src, st, from, w) })
		return err
	}
	if s.Block <= bounceSize/maxRanges {
		return post(src) // every message is gathered before anything is waited for
	}
	return e.sending(src[:span(s.Block, s.Blocks, s.Src)], post)
}

// GetStrided implements [fabric.StridedGetter]: several blocks come in one message,
// and all messages are under way together.
func (e *Endpoint) GetStrided(pe int, dst []byte, src fabric.Addr, s fabric.Strides) error {
	e.d.flushDirty()
	size, err := check("strided get", pe, s, s.Dst, s.Src, len(dst))
	if err != nil || size == 0 {
		return err
	}
	if s.Block == s.Dst && s.Block == s.Src {
		return e.Get(pe, dst[:size], src)
	}
	t, err := e.target("strided get", pe, src, size)
	if err != nil {
		return err
	}
	if uint64(s.Block) > e.d.maxMessage {
		for i := range s.Blocks {
			if err := e.Get(pe, dst[i*s.Dst:][:s.Block], src+uintptr(i*s.Src)); err != nil {
				return err
			}
		}
		return nil
	}
	st := strides{block: s.Block, blocks: s.Blocks, local: s.Dst, remote: s.Src}
	dst = dst[:span(s.Block, s.Blocks, s.Dst)]
	if len(dst) > largestOnStack {
		_, err = e.drive("strided get", pe, dst, func(from uint64, w waiter) result { return e.s.getStrided(t, dst, st, from, w) })
		return err
	}
	h := e.d.copies.take(len(dst))
	_, err = e.drive("strided get", pe, h.bytes, func(from uint64, w waiter) result { return e.s.getStrided(t, h.bytes, st, from, w) })
	if err == nil {
		for i := range s.Blocks {
			copy(dst[i*s.Dst:][:s.Block], h.bytes[i*s.Dst:])
		}
		e.d.copies.put(h) // after an error something may still be in flight
	}
	return err
}
