// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// A bench measures operations on one PE. Every PE has one, and all call the
// same methods in the same order.
type bench struct {
	pe       *shmem.PE
	me, npes int
	want     time.Duration // to be spent on a figure
	out      io.Writer
	stamp    uint64 // of the last pattern; see marked

	next  shmem.Sym[int64]   // iterations of the next run, told by PE 0
	times shmem.Sym[float64] // on PE 0: what each PE measured
}

func newBench(pe *shmem.PE, want time.Duration, out io.Writer) (*bench, error) {
	b := &bench{pe: pe, me: pe.MyPE(), npes: pe.NPEs(), want: want, out: out}
	var err error
	if b.next, err = shmem.Alloc[int64](pe, 1); err != nil {
		return nil, err
	}
	b.times, err = shmem.Alloc[float64](pe, b.npes)
	return b, err
}

// Whose time a figure is.
type clock int

const (
	originAlone clock = iota // PE 0's; the others sleep in a barrier
	origin                   // PE 0's; all take part
	mean                     // the mean of all PEs'; all take part
)

// maxIterations ends the growth of runs that cost next to nothing.
const maxIterations = 1 << 26

// measure runs f for more and more iterations, until a run takes want, and
// returns the seconds of one iteration of the last run, on PE 0. f does n
// iterations and returns the time that they took. The first run only warms up.
func (b *bench) measure(whose clock, want time.Duration, f func(n int) time.Duration) float64 {
	n := 1
	for round := 0; ; round++ {
		b.pe.BarrierAll()
		start := time.Now()
		spent := time.Duration(0)
		if whose != originAlone || b.me == 0 {
			spent = f(n)
		}
		set(b.pe, b.times.At(b.me), spent.Seconds()/float64(n), 0)
		b.pe.BarrierAll()
		wall := time.Since(start)
		result := 0.0
		if b.me == 0 {
			result = summary(whose, b.times.Local())
			next := grow(n, wall, want, round == 0)
			for p := range b.npes {
				set(b.pe, b.next, int64(next), p)
			}
		}
		b.pe.BarrierAll()
		if n = int(b.next.Local()[0]); n == 0 {
			return result
		}
	}
}

// set puts v into x of PE target, its own word by a store: with --fabric ofi a put to itself
// would make PE 0 two more sockets, and each poll looks at all.
func set[T any](pe *shmem.PE, x shmem.Sym[T], v T, target int) {
	if target == pe.MyPE() {
		x.Local()[0] = v
		return
	}
	shmem.PutValue(x, v, target)
}

// summary makes one time of all PEs' times.
func summary(whose clock, times []float64) float64 {
	if whose != mean {
		return times[0]
	}
	sum := 0.0
	for _, t := range times {
		sum += t
	}
	return sum / float64(len(times))
}

// grow returns how many iterations to run after n took wall: 0 to stop.
func grow(n int, wall, want time.Duration, warmup bool) int {
	switch {
	case warmup && wall >= want:
		return n
	case wall >= want || n >= maxIterations:
		return 0
	}
	factor := 1.1 * want.Seconds() / max(wall.Seconds(), 1e-7)
	return int(float64(n) * min(max(factor, 2), 16))
}
