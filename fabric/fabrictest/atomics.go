// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"bytes"
	"math"
	"math/rand/v2"

	"github.com/goshmem/goshmem/fabric"
)

var atomicRows = []row{
	{name: "atomic: every native operation on every type does what Apply says", n: 2, run: atomicPairs},
	{name: "atomic: what does not apply is refused", n: 2, run: atomicRefused},
	{name: "atomic: four PEs add to one word and none is lost", n: 4, run: atomicHammer},
	{name: "atomic: small words that share a word do not disturb each other", n: 4, run: atomicNeighbours},
	{name: "atomic: fetched sums are all different", n: 4, run: atomicTickets},
	{name: "atomic: of several compare-and-swaps one wins", n: 4, run: atomicCompareSwap},
}

// A pair is one operation on one type, on a word of its own.
type pair struct {
	op          fabric.Op
	dt          fabric.Datatype
	off         fabric.Addr
	old, v, cmp uint64
	fetched     []byte // where the old value arrives, or nil
}

func (x *pair) size() fabric.Addr { return fabric.Addr(x.dt.Size()) }

// atomicPairs: each PE works on words of the next one's segment. All pairs of a
// round are in flight together, so that slow fabrics overlap them.
func atomicPairs(p *pe) {
	const rounds, room = 12, 24 // a word and a gap on either side
	r := rand.New(rand.NewPCG(42, uint64(p.me)))
	for round := range rounds {
		pairs := p.pairs()
		fill(p.seg, round)
		want := bytes.Clone(p.seg)
		p.sync()
		for i, x := range pairs {
			x.off = fabric.Addr(i*room) + 8 + fabric.Addr(round)*x.size()%8
			x.old, x.v, x.cmp = operand(r, x.dt), operand(r, x.dt), operand(r, x.dt)
			if round%3 == 0 {
				x.cmp = x.old
			}
			p.must(p.ep.PutWord(p.next(), x.off, x.dt.Size(), x.old))
		}
		p.must(p.ep.Fence())
		p.each(len(pairs), func(i int) { p.post(pairs[i], round) })
		p.must(p.ep.Quiet())
		got := make([]byte, len(want))
		p.must(p.ep.Get(p.next(), got, 0))
		for _, x := range pairs {
			if x.fetched != nil {
				p.sameBits(x, "fetched", x.fetched, x.old)
			}
			after := fabric.Apply(x.op, x.dt, x.old, x.v, x.cmp)
			word := got[x.off : x.off+x.size()]
			p.sameBits(x, "left", word, after)
			copy(want[x.off:], word)
		}
		p.equal("segment after atomics, neighbours of their words included", 0, got, want)
		p.sync()
	}
}

// pairs lists what the fabric runs itself.
func (p *pe) pairs() []*pair {
	var list []*pair
	table := p.dom.Caps().Native
	for op := range fabric.Op(fabric.NumOps) {
		for dt := range fabric.Datatype(fabric.NumDatatypes) {
			if table.Has(op, dt) {
				list = append(list, &pair{op: op, dt: dt})
			}
		}
	}
	return list
}

// post issues x in one of the ways there are for it.
func (p *pe) post(x *pair, round int) {
	// What lies above the word's bits means nothing.
	above := ^low(x.dt.Size())
	v, cmp := x.v|above, x.cmp|above
	plain := !x.op.Compares() && x.op != fabric.OpRead
	switch {
	case plain && round%2 == 0:
		p.must(p.ep.Atomic(p.next(), x.op, x.dt, x.off, v))
	case round%4 < 2:
		x.fetched = make([]byte, x.size())
		p.must(p.ep.FetchAtomicNBI(p.next(), x.op, x.dt, x.off, v, cmp, x.fetched))
	default:
		old, err := p.ep.FetchAtomic(p.next(), x.op, x.dt, x.off, v, cmp)
		p.must(err)
		if old&above != 0 {
			p.failf("%v on %v fetched %#x, which is more than %d bytes", x.op, x.dt, old, x.size())
		}
		x.fetched = make([]byte, x.size())
		fabric.PutBits(x.fetched, old)
	}
}

func (p *pe) sameBits(x *pair, what string, got []byte, want uint64) {
	exp := make([]byte, len(got))
	fabric.PutBits(exp, want)
	if bytes.Equal(got, exp) || hasNaN(x.dt, got) && hasNaN(x.dt, exp) {
		return
	}
	p.failf("%v on %v of word %#x, operand %#x, comparand %#x: %s % x, want % x (in memory's order)",
		x.op, x.dt, x.old, x.v, x.cmp, what, got, exp)
}

// operand returns the bits of a value whose results stay exact: for floats small
// integers and now and then a NaN or an infinity.
func operand(r *rand.Rand, dt fabric.Datatype) uint64 {
	number := func() float64 {
		switch r.IntN(20) {
		case 0:
			return math.NaN()
		case 1:
			return math.Inf(-1)
		case 2, 3:
			return 0
		}
		return float64(r.IntN(2001) - 1000)
	}
	single := func() uint64 { return uint64(math.Float32bits(float32(number()))) }
	switch dt {
	case fabric.Float32:
		return single()
	case fabric.Float64:
		return math.Float64bits(number())
	case fabric.Complex64:
		return single()<<32 | single()
	}
	if r.IntN(5) == 0 {
		return 0
	}
	return r.Uint64() & low(dt.Size())
}

// atomicRefused: an error, at once or at Quiet, and the word is as before.
func atomicRefused(p *pe) {
	table := p.dom.Caps().Native
	fill(p.seg, 1)
	want := bytes.Clone(p.seg)
	p.sync()
	for _, x := range []pair{
		{op: fabric.OpSum, dt: fabric.Complex128},
		{op: fabric.OpWrite, dt: fabric.Complex128},
		{op: fabric.OpBand, dt: fabric.Float64},
		{op: fabric.OpMin, dt: fabric.Complex64},
	} {
		if table.Has(x.op, x.dt) {
			p.failf("%v on %v is said to be native", x.op, x.dt)
		}
		err := p.ep.Atomic(p.next(), x.op, x.dt, 0, 1)
		if err == nil {
			err = p.ep.Quiet()
		}
		if err == nil {
			p.failf("%v on %v is not refused", x.op, x.dt)
		}
		if _, err := p.ep.FetchAtomic(p.next(), x.op, x.dt, 0, 1, 0); err == nil {
			p.failf("fetching %v on %v is not refused", x.op, x.dt)
		}
	}
	p.sync()
	p.equal("segment after refused atomics", 0, p.seg, want)
}

// atomicHammer: ones, so that every order of the additions is exact.
func atomicHammer(p *pe) {
	const adds, goroutines = 25, 2
	table := p.dom.Caps().Native
	one := map[fabric.Datatype]uint64{
		fabric.Float32:   uint64(math.Float32bits(1)),
		fabric.Float64:   math.Float64bits(1),
		fabric.Complex64: fabric.Apply(fabric.OpLor, fabric.Complex64, allOnes, 0, 0), // 1+0i in either byte order
	}
	total := uint64(adds * goroutines * len(p.domains))
	for dt := range fabric.Datatype(fabric.NumDatatypes) {
		if !table.Has(fabric.OpSum, dt) {
			continue
		}
		v, want := uint64(1), total&low(min(dt.Size(), 8))
		if bits, ok := one[dt]; ok {
			v, want = bits, 0
			for range total {
				want = fabric.Apply(fabric.OpSum, dt, want, v, 0)
			}
		}
		off := 64 * (1 + fabric.Addr(dt))
		p.together(goroutines, func(int) {
			for i := range adds {
				if i%2 == 0 {
					p.must(p.ep.Atomic(1, fabric.OpSum, dt, off, v))
				} else {
					_, err := p.ep.FetchAtomic(1, fabric.OpSum, dt, off, v, 0)
					p.must(err)
				}
			}
		})
		p.must(p.ep.Quiet())
		p.sync()
		if got := p.read(1, dt, off); got != want {
			p.failf("%d additions of one to a %v: the word is %#x, want %#x", total, dt, got, want)
		}
	}
	p.sync()
}

// atomicNeighbours: each PE has a byte and a half-word of its own between the
// others', and some of them are written by put word.
func atomicNeighbours(p *pe) {
	const adds = 60
	me := fabric.Addr(p.me)
	for i := range uint64(adds) {
		p.must(p.ep.Atomic(0, fabric.OpSum, fabric.Uint8, me, 3))
		p.must(p.ep.Atomic(0, fabric.OpSum, fabric.Int16, 8+2*me, ^uint64(0)))
		if p.me%2 == 0 {
			p.must(p.ep.Atomic(0, fabric.OpBxor, fabric.Uint8, 16+me, i))
		} else {
			p.must(p.ep.PutWord(0, 16+me, 1, i))
			p.must(p.ep.Fence())
		}
	}
	p.must(p.ep.Quiet())
	p.sync()
	var xor byte
	for i := range byte(adds) {
		xor ^= i
	}
	want := make([]byte, 24)
	for i := range 4 {
		want[i] = 3 * adds
		fabric.PutBits(want[8+2*i:][:2], ^uint64(adds-1)) // -adds
		want[16+i] = [2]byte{xor, adds - 1}[i%2]
	}
	got := make([]byte, 24)
	p.must(p.ep.Get(0, got, 0))
	p.equal("neighbouring small words", 0, got, want)
}

func atomicTickets(p *pe) {
	const tickets = 40
	n := len(p.domains)
	p.together(2, func(int) {
		for range tickets / 2 {
			ticket, err := p.ep.FetchAtomic(0, fabric.OpSum, fabric.Int64, 0, 1, 0)
			p.must(err)
			if ticket >= uint64(tickets*n) {
				p.failf("ticket %d of %d", ticket, tickets*n)
			}
			// Each ticket has a byte of its own, which must be new.
			old, err := p.ep.FetchAtomic(1, fabric.OpBor, fabric.Uint8, fabric.Addr(ticket), 1, 0)
			p.must(err)
			if old != 0 {
				p.failf("ticket %d was given twice", ticket)
			}
		}
	})
	p.sync()
}

// atomicCompareSwap: every PE tries to move the word from i to its own mark.
func atomicCompareSwap(p *pe) {
	const turns = 30
	for i := range uint64(turns) {
		mark := 100 + i<<8 + uint64(p.me)
		old, err := p.ep.FetchAtomic(2, fabric.OpCswap, fabric.Uint64, 8*fabric.Addr(i), mark, 0)
		p.must(err)
		now := p.read(2, fabric.Uint64, 8*fabric.Addr(i))
		if won := old == 0; won != (now == mark) {
			p.failf("fetched %d, and the word is %d after a swap from 0 to %d", old, now, mark)
		} else if won {
			p.seen.Add(1)
		}
	}
	p.sync()
	if wins := p.seen.Load(); wins != turns {
		p.failf("%d PEs won %d words", wins, turns)
	}
	p.sync()
}
