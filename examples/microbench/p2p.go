// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"time"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/shmem"
)

const (
	areaWords = 16 << 20 / 8 // of each data area
	window    = 1000         // small operations between two Quiets
	other     = 1            // the PE at the other end
)

// pair is what the figures between PE 0 and PE 1 work on.
type pair struct {
	*bench
	src, dst, spare shmem.Sym[uint64] // data areas
	cell            shmem.Sym[int64]  // the atomics' word
	flag            shmem.Sym[int64]  // the ping-pong's word
	signal          shmem.Sym[uint64]
}

func newPair(b *bench) (*pair, error) {
	p := &pair{bench: b}
	for _, area := range []*shmem.Sym[uint64]{&p.src, &p.dst, &p.spare} {
		var err error
		if *area, err = shmem.AllocAligned[uint64](b.pe, areaWords, 4096); err != nil {
			return nil, err
		}
	}
	const apart = 256 / 8 // words; no two of the small ones share a cache line, nor a pair of lines
	small, err := shmem.AllocAligned[int64](b.pe, 2*apart, 256)
	if err != nil {
		return nil, err
	}
	p.cell, p.flag = small.At(0), small.At(apart)
	signal, err := shmem.AllocAligned[uint64](b.pe, apart, 256)
	if err != nil {
		return nil, err
	}
	p.signal = signal.At(0)
	return p, nil
}

// p2p calls measure for PE 0 and PE 1.
func p2p(b *bench, measure func(p *pair) error) error {
	if b.npes < 2 {
		return command.Usagef("p2p needs 2 PEs, not %d", b.npes)
	}
	p, err := newPair(b)
	if err != nil {
		return err
	}
	return measure(p)
}

func pairFigures(p *pair) error {
	for _, measure := range []func() error{
		p.put8, p.putRate, p.putBatchRate, p.get8, p.bandwidths, p.strided,
		p.fetchAdd, p.compareSwap, p.fetch, p.addRate, p.pingPong, p.pingPongSignal,
	} {
		if err := measure(); err != nil {
			return err
		}
	}
	return nil
}

// putting measures f, which puts words from PE 0's src to PE 1's dst, and
// checks every stride-th of them there. It returns seconds an iteration.
func (p *pair) putting(name string, words, stride int, f func(n int)) (float64, error) {
	p.stamp++
	if p.me == 0 {
		mark(p.src.Local()[:words], p.stamp, 0)
	}
	t := p.measure(originAlone, p.want, timed(f))
	if p.me == other {
		return t, checkMarked(name, p.dst.Local()[:words], stride, p.stamp, 0, 0)
	}
	return t, nil
}

// timed returns f with the time that it takes.
func timed(f func(n int)) func(n int) time.Duration {
	return func(n int) time.Duration {
		start := time.Now()
		f(n)
		return time.Since(start)
	}
}

func (p *pair) put8() error {
	dst, src := p.dst.At(0), p.src.Local()[:1]
	t, err := p.putting("put8_quiet", 1, 1, func(n int) {
		for range n {
			shmem.Put(dst, src, other)
			p.pe.Quiet()
		}
	})
	figure(p.out, "put8_quiet", 1e6*t, "us")
	return err
}

func (p *pair) putRate() error {
	dst, src := p.dst, p.src.Local()[:window]
	t, err := p.putting("putnbi8_rate", window, 1, func(n int) {
		for range n {
			for k := range window {
				shmem.PutNBI(dst.Slice(k, k+1), src[k:k+1], other)
			}
			p.pe.Quiet()
		}
	})
	figure(p.out, "putnbi8_rate", 1e-6*window/t, "Mops/s")
	return err
}

// putBatchRate is putRate in a session that allows to send puts together.
func (p *pair) putBatchRate() error {
	ctx := p.pe.Context()
	ctx.StartSession(shmem.SessionConfig{Batch: true})
	defer ctx.StopSession()
	dst, src := p.dst, p.src.Local()[:window]
	t, err := p.putting("putnbi8_batch_rate", window, 1, func(n int) {
		for range n {
			for k := range window {
				shmem.PutNBI(dst.Slice(k, k+1), src[k:k+1], other)
			}
			p.pe.Quiet()
		}
	})
	figure(p.out, "putnbi8_batch_rate", 1e-6*window/t, "Mops/s")
	return err
}

func (p *pair) get8() error {
	p.stamp++
	if p.me == other {
		mark(p.src.Local()[:1], p.stamp, other)
	}
	dst, src := p.spare.Local()[:1], p.src.At(0)
	t := p.measure(originAlone, p.want, timed(func(n int) {
		for range n {
			shmem.Get(dst, src, other)
		}
	}))
	figure(p.out, "get8", 1e6*t, "us")
	if p.me == 0 {
		return checkMarked("get8", dst, 1, p.stamp, other, 0)
	}
	return nil
}

func (p *pair) strided() error {
	const n8, stride = 1024, 2
	dst, src := p.dst.Slice(0, n8*stride), p.src.Local()[:n8*stride]
	t, err := p.putting("iput8x1024", n8*stride, stride, func(n int) {
		for range n {
			shmem.PutStrided(dst, src, stride, stride, n8, other)
			p.pe.Quiet()
		}
	})
	figure(p.out, "iput8x1024", 1e6*t, "us")
	return err
}
