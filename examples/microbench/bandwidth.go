// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// The sizes of large transfers, and how many lie between two Quiets.
var transfers = []struct {
	name          string
	bytes, window int
}{
	{"4K", 4 << 10, 64},
	{"64K", 64 << 10, 32},
	{"1M", 1 << 20, 8},
	{"16M", 16 << 20, 2},
}

// bandwidths measures puts, gets and, as their yardstick, copies within PE 0's
// own heap, window by window in turn, so that all see the same machine.
func (p *pair) bandwidths() error {
	kinds := []string{"putbw_", "getbw_", "memcpy_"}
	results := make([][]float64, len(kinds)) // by kind, then size; in bytes per second
	for _, size := range transfers {
		seconds, err := p.alternate("bandwidth_"+size.name, size.bytes/8, size.window)
		if err != nil {
			return err
		}
		for kind, t := range seconds {
			results[kind] = append(results[kind], float64(size.bytes*size.window)/t)
		}
	}
	for kind, prefix := range kinds {
		for i, size := range transfers {
			figure(p.out, prefix+size.name, 1e-9*results[kind][i], "GB/s")
		}
	}
	return nil
}

// alternate returns the seconds of a window of puts of so many words, of one of
// gets and of one of copies. The three have targets of their own, so that none
// can do another's work.
func (p *pair) alternate(name string, words, window int) (seconds [3]float64, err error) {
	p.stamp++
	mark(p.src.Local()[:words], p.stamp, p.me)
	src, dst := p.src.Slice(0, words), p.dst.Slice(0, words)
	own, copied, got := src.Local(), dst.Local(), p.spare.Local()[:words]

	var spent [3]time.Duration
	p.measure(originAlone, time.Duration(len(spent))*p.want, func(n int) time.Duration {
		spent = [3]time.Duration{}
		begin := time.Now()
		now := begin
		lap := func(kind int) {
			last := now
			now = time.Now()
			spent[kind] += now.Sub(last)
		}
		for range n {
			for range window {
				shmem.PutNBI(dst, own, other)
			}
			p.pe.Quiet()
			lap(0)
			for range window {
				shmem.GetNBI(got, src, other)
			}
			p.pe.Quiet()
			lap(1)
			for range window {
				copy(copied, own)
			}
			lap(2)
		}
		for kind, d := range spent {
			seconds[kind] = d.Seconds() / float64(n)
		}
		return now.Sub(begin)
	})

	switch p.me {
	case 0:
		err = checkMarked(name+" get", got, 1, p.stamp, other, 0)
		if err == nil {
			err = checkMarked(name+" copy", copied, 1, p.stamp, 0, 0)
		}
	case other:
		err = checkMarked(name+" put", copied, 1, p.stamp, 0, 0)
	}
	return seconds, err
}
