// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goshmem/goshmem/fabric"
)

var lifeRows = []row{
	{name: "endpoint: many goroutines use one at once", n: 2, run: func(p *pe) { busyGoroutines(p, false) }},
	{name: "endpoint: many goroutines use one each at once", n: 2, run: func(p *pe) { busyGoroutines(p, true) }},
	{name: "endpoint: close completes what is outstanding", n: 2, run: closeCompletes},
	{name: "abort: ends present and future waits of all PEs", n: 3, run: abortEndsWaits},
	{name: "close: segments stay mapped", n: 2, run: func(p *pe) { fill(p.seg, p.me) }, after: segmentsStay},
}

// busyGoroutines: each goroutine has a range of its own on the next PE, and
// checks there what it alone does.
func busyGoroutines(p *pe, own bool) {
	const goroutines, rounds, room = 8, 12, 512
	p.together(goroutines, func(g int) {
		ep := p.ep
		if own {
			ep = p.endpoint()
		}
		off := fabric.Addr(room * g)
		src, dst := make([]byte, 200), make([]byte, 200)
		for i := range rounds {
			fill(src, 100*g+i)
			switch i % 3 {
			case 0:
				p.must(ep.Put(p.next(), off, src))
			case 1:
				p.must(ep.PutNBI(p.next(), off, src))
			case 2:
				p.must(ep.PutSignal(p.next(), off, src, off+256, fabric.OpSum, 5))
			}
			p.must(ep.Atomic(p.next(), fabric.OpSum, fabric.Uint16, off+264, 1))
			p.must(ep.Quiet())
			p.must(ep.Get(p.next(), dst, off))
			p.equal("what the goroutine put", int(off), dst, src)
			sum, err := ep.FetchAtomic(p.next(), fabric.OpRead, fabric.Uint16, off+264, 0, 0)
			p.must(err)
			if sum != uint64(i+1) {
				p.failf("the goroutine's word is %d after %d additions of one", sum, i+1)
			}
		}
		if own {
			p.must(ep.Close())
		}
	})
	p.sync()
}

func closeCompletes(p *pe) {
	const rounds = 20
	for i := range rounds {
		src, want := make([]byte, 300), make([]byte, 300)
		fill(src, i)
		copy(want, src)
		ep := p.endpoint()
		p.must(ep.PutNBI(p.next(), 0, src))
		p.must(ep.PutWord(p.next(), 512, 2, uint64(i)))
		p.must(ep.Close())
		p.sync()
		p.equal("data of a closed endpoint", 0, p.seg[:300], want)
		p.equal("word of a closed endpoint", 512, p.seg[512:514], bits(uint64(i), 2))
		p.sync()
	}
}

// abortEndsWaits: the PEs wait for what never comes until PE 0 ends the job.
func abortEndsWaits(p *pe) {
	cause := errors.New("the reason")
	never := fabric.Cond{PE: p.me, Off: 8, Type: fabric.Int32, Cmp: fabric.CmpEQ, Value: 1}
	p.together(4, func(i int) {
		if p.me == 0 && i == 0 {
			p.sync()
			p.dom.Abort(cause)
			return
		}
		if i == 0 {
			p.sync()
		}
		err := p.dom.Wait(never)
		if err == nil {
			p.failf("a wait ended without an error and without its condition")
		}
		if p.me == 0 && !errors.Is(err, cause) {
			p.failf("a wait ended with %q, want %q in it", err, cause)
		}
	})
	if err := p.dom.Wait(never); err == nil {
		p.failf("a wait after abort ended without an error")
	}
	p.sync()
	p.aborted = true
}

func segmentsStay(segments [][]byte) error {
	for i, seg := range segments {
		want := make([]byte, len(seg))
		fill(want, i)
		if !bytes.Equal(seg, want) {
			return fmt.Errorf("PE %d's segment is not as before Close", i)
		}
	}
	return nil
}
