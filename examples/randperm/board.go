// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math/rand/v2"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

// A board's places and the permutation's are dealt in contiguous blocks, each
// of the same size but the last ones.
type board struct {
	pe            *shmem.PE
	n             int // numbers
	lo, hi        int // the numbers that this PE throws
	random        *rand.Rand
	places        shmem.Sym[int64] // 0, or 1 more than the number that sticks there
	before, stuck shmem.Sym[int64] // darts on the PEs before this one, and on this one
	permuted      shmem.Sym[int64] // this PE's part of the permutation, and 1 more than each number
	block         int              // elements of permuted on each PE
}

const placesPerNumber = 2

// newBoard is collective.
func newBoard(pe *shmem.PE, n int, seed uint64) (*board, error) {
	b := &board{pe: pe, n: n, random: rand.New(rand.NewPCG(seed, uint64(pe.MyPE())))}
	b.lo, b.hi = yard.Share(n, pe.MyPE(), pe.NPEs())
	b.block = (n + pe.NPEs() - 1) / pe.NPEs()
	for _, x := range []struct {
		sym *shmem.Sym[int64]
		n   int
	}{{&b.places, placesPerNumber * b.block}, {&b.before, 1}, {&b.stuck, 1}, {&b.permuted, b.block}} {
		var err error
		if *x.sym, err = shmem.Alloc[int64](pe, x.n); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// throw throws this PE's numbers until each sticks, and returns how many throws
// that took: 2·ln(2) a number, about 1.39, if nothing goes wrong.
func (b *board) throw() (throws int) {
	each := b.places.Len()
	for v := b.lo; v < b.hi; {
		place := b.random.IntN(each * b.pe.NPEs())
		throws++
		if shmem.AtomicCompareSwap(b.places.At(place%each), 0, int64(v+1), place/each) == 0 {
			v++
		}
	}
	return throws
}

// gather takes the darts off this PE's part of the board, and puts them where
// they go in the permutation, which may be on several PEs.
func (b *board) gather() {
	darts := make([]int64, 0, b.places.Len())
	for _, dart := range b.places.Local() {
		if dart != 0 {
			darts = append(darts, dart)
		}
	}
	b.stuck.Local()[0] = int64(len(darts))
	shmem.SumExclusiveScan(b.pe.World(), b.before, b.stuck)
	for at := int(b.before.Local()[0]); len(darts) > 0 && at < b.n; {
		i := at % b.block
		n := min(len(darts), b.block-i)
		shmem.Put(b.permuted.Slice(i, i+n), darts[:n], at/b.block)
		darts, at = darts[n:], at+n
	}
}

// check returns how many of this PE's numbers are not in the permutation once.
// It is collective.
func (b *board) check() (wrong int, err error) {
	seen, err := shmem.Alloc[int64](b.pe, b.block)
	if err != nil {
		return 0, err
	}
	for _, dart := range b.permuted.Local() {
		if v := int(dart) - 1; v >= 0 && v < b.n {
			shmem.AtomicInc(seen.At(v%b.block), v/b.block)
		}
	}
	b.pe.BarrierAll()
	first := b.pe.MyPE() * b.block
	for i, times := range seen.Local() {
		if first+i < b.n && times != 1 {
			wrong++
		}
	}
	return wrong, nil
}
