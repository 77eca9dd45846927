// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

const (
	tableWords = 1 << 20 // of each PE
	gupsLonger = 4       // how many times a figure's time this one takes
)

// updates is one PE's stream of random updates, a xorshift generator's
// (Marsaglia 2003).
type updates uint64

func newUpdates(pe int) updates { return updates(0x9e3779b97f4a7c15 * uint64(pe+1)) }

// draw returns the next update: v, to be combined with a word of PE target.
func (u *updates) draw(npes int) (target, word int, v uint64) {
	x := uint64(*u)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*u = updates(x)
	return int(x >> 40 % uint64(npes)), int(x % tableWords), x
}

// gups measures random atomic exclusive ors by all PEs at once.
func gups(b *bench) error {
	table, err := shmem.AllocAligned[uint64](b.pe, tableWords, 4096)
	if err != nil {
		return err
	}
	stream, total := newUpdates(b.me), 0
	t := b.measure(origin, gupsLonger*b.want, func(n int) time.Duration {
		start := time.Now()
		for range n {
			target, word, v := stream.draw(b.npes)
			shmem.AtomicXor(table.At(word), v, target)
		}
		b.pe.BarrierAll()
		total += n
		return time.Since(start)
	})
	figure(b.out, "gups_xor", 1e-6*float64(b.npes)/t, "Mups")
	return checkTable(table.Local(), b.me, b.npes, total)
}

// checkTable looks whether PE me's words are what everybody's first n updates
// make of zeros.
func checkTable(words []uint64, me, npes, n int) error {
	want := make([]uint64, tableWords)
	for pe := range npes {
		stream := newUpdates(pe)
		for range n {
			if target, word, v := stream.draw(npes); target == me {
				want[word] ^= v
			}
		}
	}
	wrong := 0
	for i, w := range want {
		if words[i] != w {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("gups_xor: %d of %d words are wrong", wrong, tableWords)
	}
	return nil
}
