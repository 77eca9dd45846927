// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"github.com/goshmem/goshmem/fabric"
)

// Rows that others are too, while a batch is open, and rows of when a batch ends.
var batchRows = []row{
	{name: "batch: puts of every size between all alignments and nothing else", n: 2, segment: transferSpace, run: batched(putSizes)},
	{name: "batch: src may be reused on return", n: 2, run: batched(putReuse)},
	{name: "batch: words of each size leave their neighbours", n: 2, run: batched(wordSizes)},
	{name: "batch: words are never torn", n: 3, run: batched(wordUntorn)},
	{name: "batch: every native operation on every type does what Apply says", n: 2, run: batched(atomicPairs)},
	{name: "batch: four PEs add to one word and none is lost", n: 4, run: batched(atomicHammer)},
	{name: "batch: fence orders a put before a word", n: 2, run: batched(orderedBy(putWord))},
	{name: "batch: fence orders a put before an atomic", n: 2, run: batched(orderedBy(atomicAdd))},
	{name: "batch: quiet completes puts so that a third PE sees them", n: 3, run: batched(func(p *pe) { quietThirdPE(p, p.quiet) })},
	{name: "batch: quiet completes words and atomics", n: 3, run: batched(func(p *pe) { quietWords(p, p.quiet) })},
	{name: "batch: quiet pes completes words and atomics", n: 3, run: batched(func(p *pe) { quietWords(p, p.quietPEs(1)) })},
	{name: "batch: many goroutines use one endpoint at once", n: 2, run: batched(func(p *pe) { busyGoroutines(p, false) })},
	{name: "batch: leaves by itself", n: 2, run: batched(func(p *pe) { batchLeaves(p, func() {}) })},
	{name: "batch: leaves when it is closed", n: 2, run: batched(func(p *pe) {
		batchLeaves(p, func() {
			p.must(p.ep.Batch(false))
			p.must(p.ep.Batch(true))
		})
	})},
	{name: "batch: leaves when the PE waits", n: 2, run: batched(func(p *pe) { batchSent(p, p.waitEQ) })},
	{name: "batch: leaves when the PE waits for one of several words", n: 2, run: batched(func(p *pe) { batchSent(p, p.waitTwo) })},
	{name: "batch: leaves when the PE gets", n: 2, run: batched(func(p *pe) {
		batchSent(p, func(off fabric.Addr, v uint64) {
			p.must(p.ep.Get(p.next(), make([]byte, 8), 8))
			p.lookEQ(off, v)
		})
	})},
	{name: "batch: leaves when the PE fetches", n: 2, run: batched(func(p *pe) {
		batchSent(p, func(off fabric.Addr, v uint64) {
			p.read(p.next(), fabric.Uint64, 8)
			p.lookEQ(off, v)
		})
	})},
	{name: "batch: leaves when its endpoint is closed", n: 2, run: batchCloses},
}

// batched is run with a batch open on the PE's endpoint.
func batched(run func(p *pe)) func(p *pe) {
	return func(p *pe) {
		p.must(p.ep.Batch(true))
		run(p)
		p.must(p.ep.Batch(false))
	}
}

// batchLeaves: what PE 0 has put arrives without a call of PE 0's but after.
func batchLeaves(p *pe, after func()) {
	const rounds = 20
	for i := range uint64(rounds) {
		if p.me == 0 {
			p.must(p.ep.PutWord(1, 8, 8, i+1))
			p.must(p.ep.Atomic(1, fabric.OpSum, fabric.Uint64, 16, 2))
			after()
		} else {
			p.wait(8, fabric.CmpEQ, i+1)
			p.wait(16, fabric.CmpEQ, 2*(i+1))
		}
		p.sync()
	}
}

// batchSent: each PE puts to the other, and calls something until what that one has put is here.
func batchSent(p *pe, until func(off fabric.Addr, v uint64)) {
	const rounds, off = 20, 64
	for i := range uint64(rounds) {
		p.must(p.ep.PutWord(p.next(), off, 8, i+1))
		until(off, i+1)
		p.sync()
	}
}

func batchCloses(p *pe) {
	const rounds = 20
	for i := range uint64(rounds) {
		ep := p.endpoint()
		p.must(ep.Batch(true))
		p.must(ep.PutWord(p.next(), 8, 8, i+1))
		p.must(ep.Put(p.next(), 16, bits(i, 4)))
		p.must(ep.Close())
		p.sync()
		p.equal("word of a closed endpoint", 8, p.seg[8:16], bits(i+1, 8))
		p.equal("data of a closed endpoint", 16, p.seg[16:20], bits(i, 4))
		p.sync()
	}
}
