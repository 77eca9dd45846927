// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"bytes"
	"fmt"

	"github.com/goshmem/goshmem/fabric"
)

var orderRows = []row{
	{name: "fence: orders a put before a word", n: 2, run: orderedBy(putWord)},
	{name: "fence: orders a put before an atomic", n: 2, run: orderedBy(atomicAdd)},
	{name: "fence: orders a non-blocking put before a word", n: 2, run: orderedBy(nbiThenWord)},
	{name: "fence: orders a put before a fetching atomic", n: 2, run: orderedBy(fetchAdd)},
	{name: "fence: the last of several words stays", n: 2, run: fenceLastWordStays},
	{name: "quiet: completes puts so that a third PE sees them", n: 3, run: func(p *pe) { quietThirdPE(p, p.quiet) }},
	{name: "quiet: completes words and atomics", n: 3, run: func(p *pe) { quietWords(p, p.quiet) }},
	{name: "quiet: is not starved by a busy neighbour on its endpoint", n: 2, run: func(p *pe) { quietNotStarved(p, p.ep, p.quiet) }},
	{name: "quiet: is not starved by a busy neighbour on another endpoint", n: 2, run: func(p *pe) { quietNotStarved(p, p.endpoint(), p.quiet) }},
	{name: "put signal: the signal never shows before its data", n: 2, run: putSignal},
	{name: "put signal: without data it is a signal", n: 2, run: putSignalEmpty},
}

// The ways in which a producer hands a message over: it puts data at off, and
// then makes the uint64 at flag, which is i, i+1.
type handover func(p *pe, target int, data []byte, off, flag fabric.Addr, i uint64)

func putWord(p *pe, target int, data []byte, off, flag fabric.Addr, i uint64) {
	p.must(p.ep.Put(target, off, data))
	p.must(p.ep.Fence())
	p.must(p.ep.PutWord(target, flag, 8, i+1))
}

func nbiThenWord(p *pe, target int, data []byte, off, flag fabric.Addr, i uint64) {
	p.must(p.ep.PutNBI(target, off, bytes.Clone(data)))
	p.must(p.ep.Fence())
	p.must(p.ep.PutWord(target, flag, 8, i+1))
}

func atomicAdd(p *pe, target int, data []byte, off, flag fabric.Addr, _ uint64) {
	p.must(p.ep.Put(target, off, data))
	p.must(p.ep.Fence())
	p.must(p.ep.Atomic(target, fabric.OpSum, fabric.Uint64, flag, 1))
}

func fetchAdd(p *pe, target int, data []byte, off, flag fabric.Addr, _ uint64) {
	p.must(p.ep.Put(target, off, data))
	p.must(p.ep.Fence())
	_, err := p.ep.FetchAtomic(target, fabric.OpSum, fabric.Uint64, flag, 1, 0)
	p.must(err)
}

// orderedBy is a producer, PE 0, and a consumer, PE 1, which must find the data
// of message i whenever the flag says so.
func orderedBy(hand handover) func(p *pe) {
	const messages, off, flag, ack = 100, 256, 0, 64
	return func(p *pe) {
		for i := range uint64(messages) {
			data := make([]byte, []int{1, 8, 64, 100, 5000}[i%5])
			fill(data, int(i))
			if p.me == 0 {
				hand(p, 1, data, off, flag, i)
				p.wait(ack, fabric.CmpEQ, i+1)
				continue
			}
			p.wait(flag, fabric.CmpEQ, i+1)
			p.equal(fmt.Sprintf("data of message %d at its flag", i), off, p.seg[off:][:len(data)], data)
			p.must(p.ep.PutWord(0, ack, 8, i+1))
		}
	}
}

func fenceLastWordStays(p *pe) {
	const words, rounds = 16, 10
	for round := range uint64(rounds) {
		for i := range fabric.Addr(words) {
			for k := range uint64(4) {
				p.must(p.ep.PutWord(p.next(), 8*i, 8, round<<8|k))
				p.must(p.ep.Fence())
			}
		}
		p.must(p.ep.Quiet())
		p.sync()
		for i := range fabric.Addr(words) {
			if got := p.read(p.me, fabric.Uint64, 8*i); got != round<<8|3 {
				p.failf("word %d is %#x after fenced words, the last of them %#x", i, got, round<<8|3)
			}
		}
		p.sync()
	}
}

// quietThirdPE: PE 0 puts to PE 1 and, after quiet, tells PE 2, which looks.
func quietThirdPE(p *pe, quiet func()) {
	const messages, off, flag, ack = 60, 256, 0, 64
	for i := range uint64(messages) {
		data := make([]byte, 50*(i%4)+1)
		fill(data, int(i))
		switch p.me {
		case 0:
			p.must(p.ep.Put(1, off, data))
			quiet()
			p.must(p.ep.PutWord(2, flag, 8, i+1))
			p.wait(ack, fabric.CmpEQ, i+1)
		case 2:
			p.wait(flag, fabric.CmpEQ, i+1)
			got := make([]byte, len(data))
			p.must(p.ep.Get(1, got, off))
			p.equal(fmt.Sprintf("data of message %d on PE 1 after quiet", i), off, got, data)
			p.must(p.ep.PutWord(0, ack, 8, i+1))
		}
	}
}

func quietWords(p *pe, quiet func()) {
	const rounds, words = 30, 8
	for i := range uint64(rounds) {
		if p.me == 0 {
			for k := range fabric.Addr(words) {
				p.must(p.ep.PutWord(1, 8*k, 8, i+1))
				p.must(p.ep.Atomic(1, fabric.OpSum, fabric.Uint32, 128+4*k, 2))
			}
			quiet()
		}
		p.sync()
		if p.me == 2 {
			for k := range fabric.Addr(words) {
				if got := p.read(1, fabric.Uint64, 8*k); got != i+1 {
					p.failf("word put is %d after quiet, want %d", got, i+1)
				}
				if got := p.read(1, fabric.Uint32, 128+4*k); got != 2*(i+1) {
					p.failf("word added to is %d after quiet, want %d", got, 2*(i+1))
				}
			}
		}
		p.sync()
	}
}

// quietNotStarved: a goroutine of PE 0 keeps posting on busy, without a pause,
// until the other one's quiets have returned.
func quietNotStarved(p *pe, busy *fabric.Extended, quiet func()) {
	const quiets = 20
	if p.me == 0 {
		done := make(chan struct{})
		p.together(2, func(i int) {
			if i == 0 {
				defer close(done)
				for k := range uint64(quiets) {
					p.must(p.ep.PutWord(1, 0, 8, k+1))
					quiet()
					if got := p.read(1, fabric.Uint64, 0); got != k+1 {
						p.failf("word is %d after quiet, want %d", got, k+1)
					}
				}
				return
			}
			for {
				select {
				case <-done:
					return
				default:
					p.must(busy.Atomic(1, fabric.OpSum, fabric.Uint64, 64, 1))
					p.must(busy.Progress())
				}
			}
		})
	}
	if busy != p.ep {
		p.must(busy.Close())
	}
	p.must(p.ep.Quiet())
	p.sync()
}

func putSignal(p *pe) {
	const messages, off, signal, ack = 100, 256, 0, 64
	want := uint64(0)
	for i := range messages {
		data := make([]byte, []int{1, 8, 64, 100, 5000}[i%5])
		fill(data, i)
		op, v := fabric.OpWrite, uint64(1000*i+1)
		if i%2 == 1 {
			op = fabric.OpSum
			want += v
		} else {
			want = v
		}
		if p.me == 0 {
			p.must(p.ep.PutSignal(1, off, data, signal, op, v))
			p.wait(ack, fabric.CmpEQ, uint64(i+1))
			continue
		}
		p.wait(signal, fabric.CmpEQ, want)
		p.equal(fmt.Sprintf("data of message %d at its signal", i), off, p.seg[off:][:len(data)], data)
		p.must(p.ep.PutWord(0, ack, 8, uint64(i+1)))
	}
}

func putSignalEmpty(p *pe) {
	p.must(p.ep.PutSignal(p.next(), fabric.Addr(len(p.seg)), nil, 8, fabric.OpWrite, 40))
	p.must(p.ep.Fence())
	p.must(p.ep.PutSignal(p.next(), 64, []byte{}, 8, fabric.OpSum, 2))
	p.wait(8, fabric.CmpEQ, 42)
	p.must(p.ep.Quiet())
	p.sync()
	p.equal("segment beside the signal", 16, p.seg[16:128], make([]byte, 112))
}
