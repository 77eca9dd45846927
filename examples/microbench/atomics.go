// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/goshmem/goshmem/shmem"
)

// counting measures f, which does n operations on PE 1's cell. f is told what
// the cell holds, and returns what it must hold then and something other than
// zero if a value that it got was wrong. Only PE 0 touches the cell.
func (p *pair) counting(name string, f func(n int, v int64) (after, wrong int64)) (float64, error) {
	if p.me == 0 {
		shmem.AtomicSet(p.cell, 0, other)
		p.pe.Quiet()
	}
	v, wrong := int64(0), int64(0)
	t := p.measure(originAlone, p.want, timed(func(n int) {
		after, bad := f(n, v)
		v, wrong = after, wrong|bad
	}))
	if p.me == 0 {
		if got := shmem.AtomicFetch(p.cell, other); got != v || wrong != 0 {
			return t, fmt.Errorf("%s: the word is %d, want %d; wrong bits in the values got: %#x", name, got, v, wrong)
		}
	}
	return t, nil
}

func (p *pair) fetchAdd() error {
	cell := p.cell
	t, err := p.counting("fadd", func(n int, v int64) (int64, int64) {
		wrong := int64(0)
		for range n {
			wrong |= shmem.AtomicFetchAdd(cell, 1, other) ^ v
			v++
		}
		return v, wrong
	})
	figure(p.out, "fadd", 1e6*t, "us")
	return err
}

func (p *pair) compareSwap() error {
	cell := p.cell
	t, err := p.counting("cswap", func(n int, v int64) (int64, int64) {
		wrong := int64(0)
		for range n {
			wrong |= shmem.AtomicCompareSwap(cell, v, v+1, other) ^ v
			v++
		}
		return v, wrong
	})
	figure(p.out, "cswap", 1e6*t, "us")
	return err
}

func (p *pair) fetch() error {
	cell := p.cell
	t, err := p.counting("fetch", func(n int, v int64) (int64, int64) {
		wrong := int64(0)
		for range n {
			wrong |= shmem.AtomicFetch(cell, other) ^ v
		}
		return v, wrong
	})
	figure(p.out, "fetch", 1e6*t, "us")
	return err
}

func (p *pair) addRate() error {
	cell := p.cell
	t, err := p.counting("add_rate", func(n int, v int64) (int64, int64) {
		for range n {
			for range window {
				shmem.AtomicAdd(cell, 1, other)
			}
			p.pe.Quiet()
		}
		return v + int64(n)*window, 0
	})
	figure(p.out, "add_rate", 1e-6*window/t, "Mops/s")
	return err
}
