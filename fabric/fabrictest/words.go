// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/goshmem/goshmem/fabric"
)

var wordRows = []row{
	{name: "put word: stores each size and leaves its neighbours", n: 2, run: wordSizes},
	{name: "put word: is never torn", n: 3, run: wordUntorn},
	{name: "put words: stores them all, each untorn, and nothing else", n: 2, run: severalWords},
	{name: "note: all of it comes, and nothing else does", n: 2, run: notes},
}

// unsigned has the type of each word size.
var unsigned = map[uint8]fabric.Datatype{1: fabric.Uint8, 2: fabric.Uint16, 4: fabric.Uint32, 8: fabric.Uint64}

func low(size uint8) uint64 { return ^uint64(0) >> (64 - 8*size) }

func wordSizes(p *pe) {
	fill(p.seg, 3)
	want := bytes.Clone(p.seg)
	p.sync()
	off := fabric.Addr(0)
	const bits = 0x0123456789abcdef
	for _, size := range []uint8{1, 2, 4, 8} {
		for range 20 {
			off = (off+3*fabric.Addr(size))&^(fabric.Addr(size)-1) + fabric.Addr(size)
			v := bits * uint64(off)
			p.must(p.ep.PutWord(p.next(), off, size, v)) // v has bits above the word's
			fabric.PutBits(want[off:off+fabric.Addr(size)], v)
		}
	}
	p.must(p.ep.PutWord(p.next(), fabric.Addr(len(p.seg)-8), 8, bits))
	fabric.PutBits(want[len(want)-8:], bits)
	p.must(p.ep.Quiet())
	p.sync()
	p.equal("segment after putting words", 0, p.seg, want)
}

// wordUntorn: PE 0 writes all-zero and all-one words in turn until PE 1, whose
// words they are, and PE 2 have seen either often enough.
func wordUntorn(p *pe) {
	const changes = 20
	for _, size := range []uint8{2, 4, 8} {
		off := fabric.Addr(64 + 8)
		if p.me == 0 {
			for i := uint64(1); p.seen.Load() < 2; i++ {
				p.must(p.ep.PutWord(1, off, size, -(i & 1)))
				p.must(p.ep.Quiet())
				p.pause()
			}
		} else {
			seen := 0
			for last := uint64(0); seen < changes; {
				v := p.read(1, unsigned[size], off)
				if v != 0 && v != low(size) {
					p.failf("word of %d bytes is torn: %#x", size, v)
				}
				if v != last {
					last = v
					seen++
				}
				p.pause()
			}
			p.seen.Add(1)
		}
		p.sync()
		if p.me == 0 {
			p.seen.Store(0)
			p.must(p.ep.PutWord(1, off, size, 0))
			p.must(p.ep.Quiet())
		}
		p.sync()
	}
}

// severalWords: PE 0 puts messages of several words, of which each holds the number
// of its message and of itself twice over, and PE 1 waits for each word by itself.
func severalWords(p *pe) {
	const messages, first, ack = 40, 256, 64
	const half = 1<<32 - 1
	most := 0
	for i := range uint64(messages) {
		n := []int{1, 2, 3, 8, 40}[i%5]
		most = max(most, n)
		if p.me == 0 {
			words := make([]uint64, n)
			for k := range words {
				words[k] = (i*64 + uint64(k) + 1) * (1<<32 + 1)
			}
			p.must(p.ep.PutWords(1, first, nil))
			p.must(p.ep.PutWords(1, first, words))
			clear(words) // may be reused
			p.wait(ack, fabric.CmpEQ, i+1)
			continue
		}
		for k := range n {
			off, want := first+8*fabric.Addr(k), (i*64+uint64(k)+1)*(1<<32+1)
			p.wait(off, fabric.CmpGE, want)
			if v := p.read(1, fabric.Uint64, off); v>>32 != v&half || v != want {
				p.failf("word %d of %d of message %d is %#x, want %#x", k, n, i, v, want)
			}
		}
		p.must(p.ep.PutWord(0, ack, 8, i+1))
	}
	p.sync()
	if p.me == 1 {
		end := first + 8*most
		p.equal("what lies behind the words", end, p.seg[end:end+64], make([]byte, 64))
		p.equal("what lies before the words", first-64, p.seg[first-64:first], make([]byte, 64))
	}
}

// notes: PE 0 notifies PE 1, which answers in kind, without a Quiet in between.
func notes(p *pe) {
	const slot = 256
	other := 1 - p.me
	for i := range uint64(200) {
		want := (i + 1) * (1<<32 + 1)
		if p.me == 0 {
			p.must(p.ep.Notify(other, slot, []uint64{want, want}))
		}
		for _, off := range []fabric.Addr{slot, slot + 8} {
			p.wait(off, fabric.CmpGE, want)
			for p.read(p.me, fabric.Uint64, off) != want { // a piece is missing
				p.must(p.ep.Progress())
			}
		}
		if p.me == 1 {
			p.must(p.ep.Notify(other, slot, []uint64{want, want}))
		}
	}
	p.sync()
	p.equal("what lies before the words", slot-64, p.seg[slot-64:slot], make([]byte, 64))
	p.equal("what lies behind the words", slot+16, p.seg[slot+16:slot+64], make([]byte, 48))
}

// hasNaN: which NaN an operation on NaNs gives is the processor's affair.
func hasNaN(dt fabric.Datatype, word []byte) bool {
	nan32 := func(b []byte) bool { f := math.Float32frombits(binary.NativeEndian.Uint32(b)); return f != f }
	switch dt {
	case fabric.Float32:
		return nan32(word)
	case fabric.Float64:
		return math.IsNaN(math.Float64frombits(binary.NativeEndian.Uint64(word)))
	case fabric.Complex64:
		return nan32(word[:4]) || nan32(word[4:])
	}
	return false
}
