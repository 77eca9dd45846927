// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// settled is how long PE 1 is away before PE 0 begins.
const settled = 20 * time.Millisecond

// away measures operations on a PE that makes no calls: because it sleeps, and because it
// computes. Its figures are medians.
func away(p *pair) error {
	for _, how := range []struct {
		name string
		be   func(time.Duration)
	}{{"asleep", time.Sleep}, {"computing", compute}} {
		if err := p.whileAway(how.name, how.be); err != nil {
			return err
		}
	}
	return nil
}

// whileAway measures what PE 0 does to PE 1 while that is away by be.
func (p *pair) whileAway(name string, be func(time.Duration)) error {
	word, cell, v := p.dst.At(0), p.cell, uint64(0)
	own := p.src.Local()[:1]
	operations := []struct {
		name string
		do   func()
	}{
		{"put8", func() {
			v++
			own[0] = v
			shmem.Put(word, own, other)
			p.pe.Quiet()
		}},
		{"get8", func() { shmem.Get(own, word, other) }},
		{"fadd", func() { shmem.AtomicFetchAdd(cell, 1, other) }},
	}
	p.pe.BarrierAll()
	if p.me != 0 {
		be(settled + time.Duration(len(operations)+1)*p.want)
		p.pe.BarrierAll()
		return nil
	}
	time.Sleep(settled)
	for _, op := range operations {
		figure(p.out, op.name+"_"+name, median(p.want, op.do).Seconds()*1e6, "us")
	}
	got := own[0] // by get8, after the last put8
	p.pe.BarrierAll()
	if got != v {
		return fmt.Errorf("get8_%s: got %d, want %d", name, got, v)
	}
	return nil
}

// median returns the median time of do, which it does for the time of want, at least once.
func median(want time.Duration, do func()) time.Duration {
	do() // warms up
	var times []time.Duration
	for begin := time.Now(); len(times) == 0 || time.Since(begin) < want; {
		start := time.Now()
		do()
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// compute keeps a core for a time, without a call.
func compute(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}
