// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/goshmem/goshmem/shmem"
)

// pingPong measures a value's way to a waiting PE: half of the way there and
// back.
func (p *pair) pingPong() error {
	flag, v := p.flag, int64(0)
	t := p.measure(origin, p.want, timed(func(n int) {
		if p.me > other {
			return
		}
		for range n {
			v++
			if p.me == 0 {
				shmem.PutValue(flag, v, other)
				shmem.WaitUntil(flag, shmem.CmpGE, v)
			} else {
				shmem.WaitUntil(flag, shmem.CmpGE, v)
				shmem.PutValue(flag, v, 0)
			}
		}
	}))
	figure(p.out, "pp_put_half", 0.5e6*t, "us")
	if got := flag.Local()[0]; got != v {
		return fmt.Errorf("pp_put_half: the word is %d, want %d", got, v)
	}
	return nil
}

// pingPongSignal is pingPong with 8 bytes of data that a signal announces.
func (p *pair) pingPongSignal() error {
	signal, dst := p.signal, p.dst.At(0)
	ball, came := p.src.Local()[:1], dst.Local()
	v, wrong := uint64(0), uint64(0)
	t := p.measure(origin, p.want, timed(func(n int) {
		if p.me > other {
			return
		}
		for range n {
			v++
			ball[0] = v
			if p.me == 0 {
				shmem.PutSignal(dst, ball, signal, v, shmem.SigSet, other)
				shmem.SignalWaitUntil(signal, shmem.CmpGE, v)
				wrong |= came[0] ^ v
			} else {
				shmem.SignalWaitUntil(signal, shmem.CmpGE, v)
				wrong |= came[0] ^ v // before the answer lets the next one come
				shmem.PutSignal(dst, ball, signal, v, shmem.SigSet, 0)
			}
		}
	}))
	figure(p.out, "pp_putsignal_half", 0.5e6*t, "us")
	if got := shmem.SignalFetch(signal); got != v || wrong != 0 {
		return fmt.Errorf("pp_putsignal_half: the signal is %d, want %d; wrong bits in the data: %#x", got, v, wrong)
	}
	return nil
}
