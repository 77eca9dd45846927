// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"bytes"
	"slices"

	"github.com/goshmem/goshmem/fabric"
)

var rmaRows = []row{
	{name: "put: copies every size between all alignments and nothing else", n: 2, segment: transferSpace, run: putSizes},
	{name: "get: copies every size between all alignments and nothing else", n: 2, segment: transferSpace, run: getSizes},
	{name: "put: src may be reused on return", n: 2, run: putReuse},
	{name: "put, get: zero length is a no-op, also at the segment's end", n: 2, run: zeroLength},
	{name: "nbi: puts, gets and fetches are complete after quiet", n: 2, run: func(p *pe) { nonBlocking(p, p.quiet) }},
	{name: "strided: block by block, gaps untouched", n: 2, run: strided},
	{name: "vectored: part by part, of all sizes, and nothing else", n: 2, segment: transferSpace, run: vectored},
}

// A transfer is one of the sizes and alignments of the put and get rows. Remote
// ranges of one list do not meet, and gaps between them show overruns.
type transfer struct {
	remote fabric.Addr
	local  int // misalignment of the local buffer
	size   int
}

const transferSpace = 3 << 20

// transfers lists 0 … 67 bytes at all misalignments of a word, and a few sizes
// around powers of two.
func transfers() []transfer {
	var list []transfer
	off := fabric.Addr(64)
	add := func(size, remote, local int) {
		off = (off+7)&^7 + fabric.Addr(remote)
		list = append(list, transfer{off, local, size})
		off += fabric.Addr(size) + 9
	}
	for size := range 68 {
		for _, align := range [][2]int{{0, 0}, {1, 0}, {0, 3}, {5, 2}, {7, 7}, {4, 4}, {2, 6}} {
			add(size, align[0], align[1])
		}
	}
	for _, size := range []int{127, 128, 129, 255, 256, 257, 1000, 4095, 4096, 4097, 65535, 65536, 65537, 1<<20 - 1, 1 << 20} {
		add(size, size%5, size%3)
	}
	if off > transferSpace {
		panic("fabrictest: the transfers do not fit their segment")
	}
	return list
}

// putSizes: first to the next PE, then to itself.
func putSizes(p *pe) {
	list := transfers()
	for round, target := range []int{p.next(), p.me} {
		fill(p.seg, 100+p.me)
		want := bytes.Clone(p.seg)
		p.sync()
		for i, x := range list {
			buf := make([]byte, x.local+x.size)
			src := buf[x.local:]
			fill(src, round<<16|i)
			p.must(p.ep.Put(target, x.remote, src))
			copy(want[x.remote:], src) // both PEs put the same
		}
		p.must(p.ep.Quiet())
		p.sync()
		p.equal("segment after the puts", 0, p.seg, want)
		p.sync()
	}
}

func getSizes(p *pe) {
	list := transfers()
	fill(p.seg, p.me)
	p.sync()
	for _, target := range []int{p.next(), p.me} {
		want := make([]byte, len(p.seg))
		fill(want, target)
		p.each(len(list), func(i int) {
			x := list[i]
			buf := bytes.Repeat([]byte{0xee}, x.local+x.size+9)
			p.must(p.ep.Get(target, buf[x.local:x.local+x.size], x.remote))
			p.equal("bytes before what was got", 0, buf[:x.local], bytes.Repeat([]byte{0xee}, x.local))
			p.equal("bytes got", int(x.remote), buf[x.local:x.local+x.size], want[x.remote:][:x.size])
			p.equal("bytes behind what was got", 0, buf[x.local+x.size:], bytes.Repeat([]byte{0xee}, 9))
		})
	}
	p.sync()
}

func putReuse(p *pe) {
	const size, puts = 200, 100
	src, want := make([]byte, size), make([]byte, size*puts)
	for i := range puts {
		fill(src, i)
		copy(want[i*size:], src)
		p.must(p.ep.Put(p.next(), fabric.Addr(i*size), src))
	}
	clear(src)
	p.must(p.ep.Quiet())
	p.sync()
	p.equal("segment", 0, p.seg[:size*puts], want)
}

func zeroLength(p *pe) {
	fill(p.seg, 7)
	want := bytes.Clone(p.seg)
	p.sync()
	end := fabric.Addr(len(p.seg))
	for _, off := range []fabric.Addr{0, 3, end} {
		for _, none := range [][]byte{nil, {}} {
			for _, target := range []int{p.me, p.next()} {
				p.must(p.ep.Put(target, off, none))
				p.must(p.ep.Get(target, none, off))
				p.must(p.ep.PutNBI(target, off, none))
				p.must(p.ep.GetNBI(target, none, off))
				p.must(p.ep.PutStrided(target, off, none, fabric.Strides{Block: 8, Dst: 16, Src: 8}))
				p.must(p.ep.GetStrided(target, none, off, fabric.Strides{Block: 8, Dst: 8, Src: 16}))
				p.must(p.ep.PutV(target, nil))
				p.must(p.ep.GetV(target, nil))
				p.must(p.ep.PutV(target, []fabric.Part{{Off: off, Data: none}, {Off: 0, Data: none}}))
				p.must(p.ep.GetV(target, []fabric.Part{{Off: off, Data: none}, {Off: 0, Data: none}}))
			}
		}
	}
	p.must(p.ep.Fence())
	p.must(p.ep.Quiet())
	p.sync()
	p.equal("segment after transfers of nothing", 0, p.seg, want)
}

func nonBlocking(p *pe, quiet func()) {
	const count, size = 60, 300
	const words = fabric.Addr(count * size) // of the fetches
	target := p.next()
	want := make([]byte, count*size)
	for i := range count {
		fill(want[i*size:][:size], 1000*target+i)
	}
	for round := range 3 {
		for i := range count {
			src := make([]byte, size)
			fill(src, 1000*p.next()+i)
			p.must(p.ep.PutNBI(target, fabric.Addr(i*size), src))
			p.must(p.ep.FetchAtomicNBI(target, fabric.OpSum, fabric.Uint32, words+fabric.Addr(4*i), 3, 0, make([]byte, 4)))
		}
		quiet()
		p.sync()
		got, sums := make([]byte, count*size), make([]byte, 4*count)
		for i := range count {
			p.must(p.ep.GetNBI(target, got[i*size:][:size], fabric.Addr(i*size)))
			p.must(p.ep.FetchAtomicNBI(target, fabric.OpRead, fabric.Uint32, words+fabric.Addr(4*i), 0, 0, sums[4*i:][:4]))
		}
		quiet()
		p.equal("bytes got", 0, got, want)
		sum := make([]byte, 4)
		fabric.PutBits(sum, uint64(3*(round+1)))
		p.equal("words fetched", 0, sums, bytes.Repeat(sum, count))
		p.sync()
	}
}

func strided(p *pe) {
	for _, s := range []fabric.Strides{
		{Block: 1, Blocks: 9, Dst: 2, Src: 1},
		{Block: 8, Blocks: 33, Dst: 24, Src: 16},
		{Block: 8, Blocks: 16, Dst: 8, Src: 8},
		{Block: 3, Blocks: 7, Dst: 11, Src: 5},
		{Block: 100, Blocks: 1, Dst: 100, Src: 100},
		{Block: 257, Blocks: 20, Dst: 300, Src: 1000},
	} {
		const off = 40
		fill(p.seg, 5)
		want := bytes.Clone(p.seg)
		src := make([]byte, s.Blocks*s.Src+s.Block)
		fill(src, 6)
		for i := range s.Blocks {
			copy(want[off+i*s.Dst:], src[i*s.Src:][:s.Block])
		}
		p.sync()
		p.must(p.ep.PutStrided(p.next(), off, src, s))
		p.must(p.ep.Quiet())
		p.sync()
		p.equal("segment after a strided put", 0, p.seg, want)

		// Back again: source and destination change places.
		back := fabric.Strides{Block: s.Block, Blocks: s.Blocks, Dst: s.Src, Src: s.Dst}
		got := bytes.Repeat([]byte{0xee}, len(src))
		wantGot := bytes.Clone(got)
		for i := range s.Blocks {
			copy(wantGot[i*s.Src:], src[i*s.Src:][:s.Block])
		}
		p.must(p.ep.GetStrided(p.next(), got, off, back))
		p.equal("bytes after a strided get", 0, got, wantGot)
		p.sync()
	}
}

// vectored takes the transfers that the put and get rows make one by one in lists of
// several lengths: neighbouring sizes, and, turned around, the long ones first.
func vectored(p *pe) {
	list := transfers()
	for round, n := range []int{1, 3, 4, 5, 16, 70, len(list)} {
		fill(p.seg, 200+p.me)
		want := bytes.Clone(p.seg)
		p.sync()
		if round%2 == 1 {
			slices.Reverse(list)
		}
		for rest := range slices.Chunk(list, n) {
			parts := make([]fabric.Part, len(rest))
			for i, x := range rest {
				buf := make([]byte, x.local+x.size)
				parts[i] = fabric.Part{Off: x.remote, Data: buf[x.local:]}
				fill(parts[i].Data, round<<24|int(x.remote))
				copy(want[x.remote:], parts[i].Data) // both PEs put the same
			}
			p.must(p.ep.PutV(p.next(), parts))
			for _, part := range parts {
				clear(part.Data) // which may be reused
			}
		}
		p.must(p.ep.Quiet())
		p.sync()
		p.equal("segment after vectored puts", 0, p.seg, want)
		for rest := range slices.Chunk(list, n) {
			parts, bufs := make([]fabric.Part, len(rest)), make([][]byte, len(rest))
			for i, x := range rest {
				bufs[i] = bytes.Repeat([]byte{0xee}, x.local+x.size+9)
				parts[i] = fabric.Part{Off: x.remote, Data: bufs[i][x.local:][:x.size]}
			}
			p.must(p.ep.GetV(p.next(), parts))
			for i, x := range rest {
				exp := bytes.Repeat([]byte{0xee}, len(bufs[i]))
				copy(exp[x.local:], want[x.remote:][:x.size])
				p.equal("buffer of a part of a vectored get", int(x.remote), bufs[i], exp)
			}
		}
		p.sync()
	}
}
