// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"bytes"
	"math/rand/v2"
	"sync/atomic"

	"github.com/goshmem/goshmem/fabric"
)

var waitRows = []row{
	{name: "wait: every comparison at every width reads its own bytes alone", n: 2, run: func(p *pe) { waitComparisons(p, p.dom.Wait) }},
	{name: "wait: a condition that holds returns at once", n: 1, run: waitHolds},
	{name: "wait: a word put ends it", n: 2, run: wokenBy(func(p *pe, off fabric.Addr, i uint64) {
		p.must(p.ep.PutWord(1, off, 8, i))
	})},
	{name: "wait: an atomic ends it", n: 2, run: wokenBy(func(p *pe, off fabric.Addr, _ uint64) {
		p.must(p.ep.Atomic(1, fabric.OpSum, fabric.Uint64, off, 1))
	})},
	{name: "wait: a fetching atomic ends it", n: 2, run: wokenBy(func(p *pe, off fabric.Addr, i uint64) {
		_, err := p.ep.FetchAtomic(1, fabric.OpCswap, fabric.Uint64, off, i, i-1)
		p.must(err)
	})},
	{name: "wait: a put and a quiet end it", n: 2, run: wokenBy(func(p *pe, off fabric.Addr, i uint64) {
		p.must(p.ep.Put(1, off, bits(i, 8)))
		p.must(p.ep.Quiet())
	})},
	{name: "wait: a signal ends it", n: 2, run: wokenBy(func(p *pe, off fabric.Addr, i uint64) {
		p.must(p.ep.PutSignal(1, 512, bits(i, 8), off, fabric.OpWrite, i))
	})},
	{name: "wait: an own goroutine's store and wake end it", n: 2, run: wokenBy(nil)},
	{name: "wait: a near PE's store and wake end it", n: 2, needs: direct, run: wokenBy(func(p *pe, off fabric.Addr, i uint64) {
		store(p.dom.Map(1), off, i)
		p.dom.Wake(1)
	})},
	{name: "wait: a wake of all near PEs ends it", n: 2, needs: direct, run: wokenBy(func(p *pe, off fabric.Addr, i uint64) {
		store(p.dom.Map(1), off, i)
		p.dom.Wake(-1)
	})},
	{name: "wait: a bare store ends it in the end", n: 2, needs: direct, run: wokenBy(func(p *pe, off fabric.Addr, i uint64) {
		store(p.dom.Map(1), off, i)
	})},
	{name: "wait: a near PE's word can be waited for", n: 2, needs: near, run: waitNear},
	{name: "wait: sleepers are seen by near PEs", n: 2, needs: near, run: waitSleepers},
	{name: "wait: shows what was visible before the update", n: 3, run: func(p *pe) { waitChain(p, p.waitEQ) }},
	{name: "wait: a thousand goroutines of one PE", n: 2, run: func(p *pe) { waitThousand(p, p.waitEQ) }},
}

// A step is a wait's condition and what the word goes through: a value under
// which it does not hold, another one, and one that makes it hold.
type step struct {
	cmp              fabric.Cmp
	value            uint64
	first, then, end uint64
}

const allOnes = ^uint64(0)

// minus returns the bits of -v.
func minus(v uint64) uint64 { return -v }

// steps are for a word whose top bit is top: the sign, or the largest value's.
func steps(dt fabric.Datatype) []step {
	top := uint64(1) << (8*dt.Size() - 1)
	if dt.Signed() {
		return []step{
			{fabric.CmpEQ, minus(3), 5, 3, minus(3)},
			{fabric.CmpNE, 7, 7, 7, minus(7)},
			{fabric.CmpGT, minus(2), minus(3), top, 1},
			{fabric.CmpGE, minus(2), minus(3), top, minus(2)},
			{fabric.CmpLT, 0, 1, top - 1, minus(1)},
			{fabric.CmpLE, minus(1), 0, top - 1, minus(1)},
		}
	}
	return []step{
		{fabric.CmpEQ, allOnes, 5, 0, allOnes},
		{fabric.CmpNE, 7, 7, 7, allOnes},
		{fabric.CmpGT, 5, 0, 5, top},
		{fabric.CmpGE, top, top - 1, 0, top},
		{fabric.CmpLT, top, top, allOnes, top - 1},
		{fabric.CmpLE, top - 1, top, allOnes, 0},
	}
}

// waitComparisons: PE 0 leads the words of PE 1 through the steps, all of one
// type at once. The bytes around each word are all ones.
func waitComparisons(p *pe, wait func(fabric.Cond) error) {
	const room = 24
	for dt := fabric.Int8; dt <= fabric.Uint64; dt++ {
		list := steps(dt)
		size := dt.Size()
		if p.me == 1 {
			copy(p.seg, bytes.Repeat([]byte{0xff}, room*len(list)))
			for i, s := range list {
				fabric.PutBits(p.seg[room*i+8:][:size], s.first)
			}
		}
		p.sync()
		put := func(v func(step) uint64) {
			for i, s := range list {
				p.must(p.ep.PutWord(1, fabric.Addr(room*i+8), size, v(s)))
			}
			p.must(p.ep.Quiet())
		}
		if p.me == 0 {
			put(func(s step) uint64 { return s.then })
			p.seen.Store(int64(dt) + 1)
			put(func(s step) uint64 { return s.end })
		} else {
			above := ^low(size) // bits above the word's mean nothing
			p.together(len(list), func(i int) {
				s := list[i]
				c := fabric.Cond{PE: 1, Off: fabric.Addr(room*i + 8), Type: dt, Cmp: s.cmp, Value: s.value ^ above}
				p.must(wait(c))
				if p.seen.Load() != int64(dt)+1 {
					p.failf("wait for %v %v %#x ended before the word was %#x", dt, s.cmp, s.value, s.end)
				}
				if got := p.read(1, dt, c.Off); got != s.end&low(size) {
					p.failf("after the wait for %v %v %#x the word is %#x, want %#x", dt, s.cmp, s.value, got, s.end)
				}
			})
		}
		p.sync()
	}
}

func waitHolds(p *pe) {
	fabric.PutBits(p.seg[8:16], 5)
	p.wait(8, fabric.CmpEQ, 5)
	p.wait(8, fabric.CmpLT, 6)
	p.wait(16, fabric.CmpEQ, 0)
}

// wokenBy: PE 0 makes the word of PE 1 1, 2, 3 …, and PE 1 waits for each. With
// nil a goroutine of PE 1 does, by direct stores.
func wokenBy(update func(p *pe, off fabric.Addr, i uint64)) func(p *pe) {
	const off, ack, rounds = 64, 128, 40
	return func(p *pe) {
		own := update == nil
		write := update
		if own {
			write = func(p *pe, off fabric.Addr, i uint64) {
				store(p.seg, off, i)
				p.dom.Wake(p.me)
			}
		}
		updater := func() {
			for i := range uint64(rounds) {
				write(p, off, i+1)
				p.wait(ack, fabric.CmpEQ, i+1)
			}
		}
		waiter := func(answer int) {
			for i := range uint64(rounds) {
				p.wait(off, fabric.CmpEQ, i+1)
				p.must(p.ep.PutWord(answer, ack, 8, i+1))
			}
		}
		switch {
		case own && p.me == 1:
			p.together(2, func(i int) {
				if i == 0 {
					updater()
				} else {
					waiter(1)
				}
			})
		case own:
		case p.me == 0:
			updater()
		default:
			waiter(0)
		}
	}
}

func waitNear(p *pe) {
	const off, rounds = 32, 30
	for i := range uint64(rounds) {
		if p.me == 0 {
			p.must(p.dom.Wait(fabric.Cond{PE: 1, Off: off, Type: fabric.Uint32, Cmp: fabric.CmpEQ, Value: i + 1}))
		} else {
			p.must(p.ep.PutWord(1, off, 4, i+1))
		}
		p.sync()
	}
}

func waitSleepers(p *pe) {
	if p.me == 1 {
		p.wait(0, fabric.CmpEQ, 1)
		return
	}
	for atomic.LoadUint32(p.dom.Sleepers()) == 0 {
		p.pause()
	}
	p.must(p.ep.PutWord(1, 0, 8, 1))
	p.must(p.ep.Quiet())
	p.dom.Wake(1)
}

// waitChain: PE 0 puts to PE 2 and tells PE 1, which tells PE 2.
func waitChain(p *pe, wait func(off fabric.Addr, v uint64)) {
	const rounds, off, flag, ack = 60, 256, 0, 64
	for i := range uint64(rounds) {
		data := make([]byte, 77)
		fill(data, int(i))
		switch p.me {
		case 0:
			p.must(p.ep.Put(2, off, data))
			p.must(p.ep.Quiet())
			p.must(p.ep.PutWord(1, flag, 8, i+1))
			p.wait(ack, fabric.CmpEQ, i+1)
		case 1:
			wait(flag, i+1)
			p.must(p.ep.PutWord(2, flag, 8, i+1))
		case 2:
			wait(flag, i+1)
			p.equal("data that went before", off, p.seg[off:][:len(data)], data)
			p.must(p.ep.PutWord(0, ack, 8, i+1))
		}
	}
}

func waitThousand(p *pe, wait func(off fabric.Addr, v uint64)) {
	const waiters = 1000
	if p.me == 1 {
		p.together(waiters, func(i int) { wait(fabric.Addr(8*i), uint64(i+1)) })
		return
	}
	for _, i := range rand.New(rand.NewPCG(3, 4)).Perm(waiters) {
		p.must(p.ep.PutWord(1, fabric.Addr(8*i), 8, uint64(i+1)))
	}
	p.must(p.ep.Quiet())
}

// waitEQ waits until the uint64 at off of the own segment is v.
func (p *pe) waitEQ(off fabric.Addr, v uint64) { p.wait(off, fabric.CmpEQ, v) }

// bits returns a word's bytes in memory's order.
func bits(v uint64, size int) []byte {
	b := make([]byte, size)
	fabric.PutBits(b, v)
	return b
}
