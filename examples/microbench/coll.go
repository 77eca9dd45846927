// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// collective is what the figures of all PEs work on.
type collective struct {
	*bench
	team         *shmem.Team
	src, dst     shmem.Sym[uint64]
	terms, total shmem.Sym[float64]
}

const (
	broadcastWords = 1 << 20 / 8  // of the large broadcast
	blockWords     = 64 << 10 / 8 // of the large blocks of alltoall and fcollect
	sumTerms       = 1 << 20      // of the large reduction
)

func coll(b *bench) error {
	c := &collective{bench: b, team: b.pe.World()}
	words := max(broadcastWords, blockWords*b.npes)
	var err error
	if c.src, err = shmem.AllocAligned[uint64](b.pe, words, 4096); err != nil {
		return err
	}
	if c.dst, err = shmem.AllocAligned[uint64](b.pe, words, 4096); err != nil {
		return err
	}
	if c.terms, err = shmem.AllocAligned[float64](b.pe, sumTerms, 4096); err != nil {
		return err
	}
	if c.total, err = shmem.AllocAligned[float64](b.pe, sumTerms, 4096); err != nil {
		return err
	}
	c.barrier()
	for _, f := range []struct {
		name    string
		measure func(name string, n int) error
		n       int
	}{
		{"bcast_8", c.broadcast, 1},
		{"bcast_1M", c.broadcast, broadcastWords},
		{"sum_1", c.sum, 1},
		{"sum_1Mi", c.sum, sumTerms},
		{"alltoall_8", c.allToAll, 1},
		{"alltoall_64K", c.allToAll, blockWords},
		{"fcollect_8", c.fcollect, 1},
		{"fcollect_64K", c.fcollect, blockWords},
	} {
		if err := f.measure(f.name, f.n); err != nil {
			return err
		}
	}
	return nil
}

func (c *collective) barrier() {
	t := c.measure(origin, c.want, timed(func(n int) {
		for range n {
			c.pe.BarrierAll()
		}
	}))
	c.figure("barrier", t)
}

func (c *collective) figure(name string, seconds float64) {
	figure(c.out, fmt.Sprintf("%s_np%d", name, c.npes), 1e6*seconds, "us")
}

// timing measures a collective, after a barrier that is not measured, and prints
// the mean of all PEs' times.
func (c *collective) timing(name string, call func()) {
	t := c.measure(mean, c.want, func(n int) time.Duration {
		spent := time.Duration(0)
		for range n {
			c.pe.BarrierAll()
			start := time.Now()
			call()
			spent += time.Since(start)
		}
		return spent
	})
	c.figure(name, t)
}

// source marks this PE's first words of src with a new stamp.
func (c *collective) source(words int) shmem.Sym[uint64] {
	c.stamp++
	src := c.src.Slice(0, words)
	mark(src.Local(), c.stamp, c.me)
	return src
}

func (c *collective) broadcast(name string, words int) error {
	const root = 0
	src, dst := c.source(words), c.dst.Slice(0, words)
	c.timing(name, func() { shmem.Broadcast(c.team, dst, src, root) })
	return checkMarked(name, dst.Local(), 1, c.stamp, root, 0)
}

func (c *collective) sum(name string, n int) error {
	src, dst := c.terms.Slice(0, n), c.total.Slice(0, n)
	term := func(pe, i int) float64 { return float64(i%1000 + pe) } // small integers add up exactly
	for i := range src.Local() {
		src.Local()[i] = term(c.me, i)
	}
	clear(dst.Local())
	c.timing(name, func() { shmem.SumReduce(c.team, dst, src) })
	for i, got := range dst.Local() {
		want := 0.0
		for pe := range c.npes {
			want += term(pe, i)
		}
		if got != want {
			return fmt.Errorf("%s: element %d is %v, want %v", name, i, got, want)
		}
	}
	return nil
}

func (c *collective) allToAll(name string, block int) error {
	src, dst := c.source(block*c.npes), c.dst.Slice(0, block*c.npes)
	c.timing(name, func() { shmem.AllToAll(c.team, dst, src) })
	for pe := range c.npes {
		got := dst.Local()[pe*block:][:block]
		if err := checkMarked(name, got, 1, c.stamp, pe, c.me*block); err != nil {
			return err
		}
	}
	return nil
}

func (c *collective) fcollect(name string, block int) error {
	src, dst := c.source(block), c.dst.Slice(0, block*c.npes)
	c.timing(name, func() { shmem.FCollect(c.team, dst, src) })
	for pe := range c.npes {
		got := dst.Local()[pe*block:][:block]
		if err := checkMarked(name, got, 1, c.stamp, pe, 0); err != nil {
			return err
		}
	}
	return nil
}
