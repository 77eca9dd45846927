// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// arrivals are how many puts the arrivals peer answers.
const arrivals = 900

// timeBits are the low bits of an answer, nanoseconds; those above are its number.
const timeBits = 40

// sharedClock returns the time by a clock that all processes read alike, in nanoseconds.
func sharedClock() uint64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return uint64(t.Nano())
}

// noteArrivals is PE 1, which polls a word that says when it was put, and tells PE 0 how long it took.
func noteArrivals(d *Domain) error {
	e, err := d.Endpoint()
	if err != nil {
		return err
	}
	last := uint64(0)
	for i := range uint64(arrivals) {
		for d.word(0).load(8) == last {
			if err := e.Progress(); err != nil {
				return err
			}
		}
		now := sharedClock()
		last = d.word(0).load(8)
		if err := e.PutWord(0, 0, 8, (i+1)<<timeBits|(now-last)); err != nil {
			return err
		}
	}
	return e.Close()
}

// TestBatch_LeavesInTime: what is collected arrives soon after it would have arrived by itself, although its
// PE computes and makes no call. Soon is 50 µs on a machine with a core to spare.
func TestBatch_LeavesInTime(t *testing.T) {
	const bound = 5 * time.Millisecond
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "arrivals")
			e := endpoint(t, p.domain)
			answer := p.domain.word(0)
			const alone, batched, burst = 0, 1, 2
			var took [3][]time.Duration
			for i := range uint64(arrivals) {
				way := int(i % 3)
				require.NoError(t, e.Batch(way != alone))
				if way == burst {
					for k := range uint64(8) {
						require.NoError(t, e.PutWord(1, 64+8*uintptr(k), 8, i))
					}
				}
				require.NoError(t, e.PutWord(1, 0, 8, sharedClock()))
				for begin := time.Now(); answer.load(8)>>timeBits != i+1; { // computes
					if time.Since(begin) > time.Minute {
						t.Fatal("nothing has come for a minute")
					}
				}
				took[way] = append(took[way], time.Duration(answer.load(8)&(1<<timeBits-1)))
			}
			for way, name := range []string{"by itself", "batched", "last of a burst"} {
				list := took[way]
				slices.Sort(list)
				t.Logf("%s: least %v, 25 %% %v, median %v, 90 %% %v", name, list[0], list[len(list)/4], list[len(list)/2], list[len(list)*9/10])
			}
			for _, way := range []int{batched, burst} {
				quarter := arrivals / 12
				require.Less(t, took[way][quarter]-took[alone][quarter], bound)
			}
		})
	}
}
