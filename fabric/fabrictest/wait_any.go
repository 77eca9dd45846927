// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/goshmem/goshmem/fabric"
)

// Rows of WaitAny: what Wait does, for one of several words.
var waitAnyRows = []row{
	{name: "wait any: every comparison at every width reads its own bytes alone", n: 2, run: func(p *pe) {
		waitComparisons(p, func(c fabric.Cond) error {
			c.Off -= fabric.Addr(c.Type.Size())
			return p.dom.WaitAny(fabric.Conds{Cond: c, N: 3, Skip: []int{1, 0, -1}})
		})
	}},
	{name: "wait any: a set that holds returns at once", n: 1, run: waitAnyHolds},
	{name: "wait any: whichever word changes ends it", n: 2, run: waitAnyWord},
	{name: "wait any: each word has its own value", n: 2, run: waitAnyValues},
	{name: "wait any: skipped words do not end it", n: 2, run: waitAnySkipped},
	{name: "wait any: a stop and a wake end it", n: 1, run: waitAnyStopped},
	{name: "wait any: shows what was visible before the update", n: 3, run: func(p *pe) { waitChain(p, p.waitTwo) }},
	{name: "wait any: a thousand goroutines of one PE", n: 2, run: func(p *pe) { waitThousand(p, p.waitTwo) }},
}

// Rows of Look: what ends a wait, seen by who polls.
var lookRows = []row{
	{name: "look: every comparison at every width reads its own bytes alone", n: 1, run: lookComparisons},
	{name: "look: shows what was visible before the update", n: 2, run: lookOrdered},
}

// waitTwo waits until the uint64 at off of the own segment is v. The next one never is.
func (p *pe) waitTwo(off fabric.Addr, v uint64) {
	c := fabric.Cond{PE: p.me, Off: off, Type: fabric.Uint64, Cmp: fabric.CmpEQ, Value: v}
	p.must(p.dom.WaitAny(fabric.Conds{Cond: c, N: 2}))
}

// lookEQ polls until the uint64 at off of the own segment is v.
func (p *pe) lookEQ(off fabric.Addr, v uint64) {
	for !p.dom.Look(fabric.Cond{PE: p.me, Off: off, Type: fabric.Uint64, Cmp: fabric.CmpEQ, Value: v}) {
		p.pause()
	}
}

func waitAnyHolds(p *pe) {
	fabric.PutBits(p.seg[16:24], 5)
	c := fabric.Cond{Off: 8, Type: fabric.Uint64, Cmp: fabric.CmpGE, Value: 5}
	p.must(p.dom.WaitAny(fabric.Conds{Cond: c, N: 2}))
	c.Off = 16
	p.must(p.dom.WaitAny(fabric.Conds{Cond: c, N: 1}))
	stop := new(atomic.Bool)
	stop.Store(true)
	c.Value = 6
	p.must(p.dom.WaitAny(fabric.Conds{Cond: c, N: 1, Stop: stop}))
}

// waitAnyWord: PE 0 changes one word of PE 1's after the other, in several ways.
func waitAnyWord(p *pe) {
	const words, first, ack, data, rounds = 9, 64, 0, 512, 60
	for i := range uint64(rounds) {
		k := int(5*i) % words
		off := fabric.Addr(first + 8*k)
		if p.me == 0 {
			switch i % 4 {
			case 0:
				p.must(p.ep.PutWord(1, off, 8, i+1))
			case 1:
				_, err := p.ep.FetchAtomic(1, fabric.OpWrite, fabric.Uint64, off, i+1, 0)
				p.must(err)
			case 2:
				p.must(p.ep.Put(1, off, bits(i+1, 8)))
				p.must(p.ep.Quiet())
			case 3:
				p.must(p.ep.PutSignal(1, data, bits(i, 8), off, fabric.OpWrite, i+1))
			}
			p.waitEQ(ack, i+1)
			continue
		}
		c := fabric.Cond{PE: 1, Off: first, Type: fabric.Uint64, Cmp: fabric.CmpEQ, Value: i + 1}
		p.must(p.dom.WaitAny(fabric.Conds{Cond: c, N: words}))
		if got := p.read(1, fabric.Uint64, off); got != i+1 {
			p.failf("the wait for one of %d words ended, and word %d is %d, want %d", words, k, got, i+1)
		}
		p.must(p.ep.PutWord(0, ack, 8, i+1))
	}
}

// waitAnyValues: each of PE 1's words has the value that its neighbour is to get, until PE 0
// gives one of them its own.
func waitAnyValues(p *pe) {
	const words, first = 4, 256
	for dt := fabric.Int8; dt <= fabric.Uint64; dt++ {
		size := dt.Size()
		for k := range words {
			round := int64(dt)*words + int64(k) + 1
			values := make([]byte, 0, words*int(size))
			for i := range words {
				values = append(values, bits(uint64(i+1), int(size))...)
			}
			off := func(i int) fabric.Addr { return first + fabric.Addr(i)*fabric.Addr(size) }
			if p.me == 1 {
				for i := range words {
					fabric.PutBits(p.seg[off(i):][:size], uint64((i+1)%words+1))
				}
			}
			p.sync()
			if p.me == 0 {
				p.seen.Store(round)
				p.must(p.ep.PutWord(1, off(k), size, uint64(k+1)))
			} else {
				c := fabric.Cond{PE: 1, Off: first, Type: dt, Cmp: fabric.CmpEQ}
				p.must(p.dom.WaitAny(fabric.Conds{Cond: c, N: words, Values: values}))
				if p.seen.Load() != round {
					p.failf("the wait for %d words of type %v ended before one had its value", words, dt)
				}
			}
			p.sync()
		}
	}
}

// waitAnySkipped: PE 0 changes the words that PE 1 skips, and then another one.
func waitAnySkipped(p *pe) {
	const words, first, rounds = 5, 64, 30
	for i := range uint64(rounds) {
		counts := int(i) % words
		if p.me == 0 {
			for k := range words {
				if k != counts {
					p.must(p.ep.PutWord(1, first+8*fabric.Addr(k), 8, i+1))
				}
			}
			p.must(p.ep.Quiet())
			p.seen.Store(int64(i) + 1)
			p.must(p.ep.PutWord(1, first+8*fabric.Addr(counts), 8, i+1))
		} else {
			skip := slices.Repeat([]int{1}, words)
			skip[counts] = 0
			c := fabric.Cond{PE: 1, Off: first, Type: fabric.Uint64, Cmp: fabric.CmpEQ, Value: i + 1}
			p.must(p.dom.WaitAny(fabric.Conds{Cond: c, N: words, Skip: skip}))
			if p.seen.Load() != int64(i)+1 {
				p.failf("round %d: the wait ended before word %d, which alone counts, was changed", i, counts)
			}
		}
		p.sync()
	}
}

// waitAnyStopped: one goroutine ends the waits of another.
func waitAnyStopped(p *pe) {
	const rounds = 40
	stops := make(chan *atomic.Bool, rounds)
	p.together(2, func(i int) {
		if i == 1 {
			for stop := range stops {
				stop.Store(true)
				p.dom.Wake(p.me)
			}
			return
		}
		defer close(stops)
		for range rounds {
			stop := new(atomic.Bool)
			stops <- stop
			c := fabric.Cond{PE: p.me, Off: 8, Type: fabric.Uint64, Cmp: fabric.CmpNE}
			p.must(p.dom.WaitAny(fabric.Conds{Cond: c, N: 3, Stop: stop}))
			if !stop.Load() {
				p.failf("a wait for words that nobody changes ended before it was stopped")
			}
		}
	})
}

// lookComparisons: each word goes through its steps amid bytes that are all ones.
func lookComparisons(p *pe) {
	const off = 72
	for dt := fabric.Int8; dt <= fabric.Uint64; dt++ {
		size := dt.Size()
		for _, s := range steps(dt) {
			c := fabric.Cond{PE: p.me, Off: off, Type: dt, Cmp: s.cmp, Value: s.value ^ ^low(size)}
			for _, word := range []struct {
				v     uint64
				holds bool
			}{{s.first, false}, {s.then, false}, {s.end, true}} {
				p.must(p.ep.PutWord(p.me, off-8, 8, allOnes))
				p.must(p.ep.PutWord(p.me, off+8, 8, allOnes))
				if size < 8 {
					p.must(p.ep.PutWord(p.me, off, 8, allOnes))
					p.must(p.ep.Fence())
				}
				p.must(p.ep.PutWord(p.me, off, size, word.v))
				p.must(p.ep.Quiet())
				if got := p.dom.Look(c); got != word.holds {
					p.failf("a look at %#x for %v %v %#x says %v", word.v, dt, s.cmp, s.value, got)
				}
			}
		}
	}
}

// lookOrdered: PE 1 polls the flag of a message.
func lookOrdered(p *pe) {
	const messages, off, flag, ack = 60, 256, 0, 64
	for i := range uint64(messages) {
		data := make([]byte, []int{1, 8, 100, 3000}[i%4])
		fill(data, int(i))
		if p.me == 0 {
			putWord(p, 1, data, off, flag, i)
			p.waitEQ(ack, i+1)
			continue
		}
		p.lookEQ(flag, i+1)
		p.equal(fmt.Sprintf("data of message %d at its flag", i), off, p.seg[off:][:len(data)], data)
		p.must(p.ep.PutWord(0, ack, 8, i+1))
	}
}
