// SPDX-License-Identifier: BSD-3-Clause

// Atomics walks through the families of atomic operations. In every step all PEs
// work on the same words, which PE 0 holds, and each step checks that no
// update was lost.
//
//	gorun -np 4 atomics
//	gorun -np 4 --fabric ofi --stats atomics    # by fi_atomic and its kin, counted
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/goshmem/goshmem/shmem"
)

func main() {
	shmem.Main(func(pe *shmem.PE) error { return walk(pe, os.Stdout) })
}

var steps = [...]struct {
	name, what string
	run        func(pe *shmem.PE) error
}{
	{"add", "counted to 100 per PE, by words of 1, 2, 4 and 8 bytes", add},
	{"fetch-add", "drew tickets: no two PEs have the same", tickets},
	{"swap", "passed a value on from PE to PE", swap},
	{"cswap", "took turns as owners of a word", compareSwap},
	{"bitwise", "set a bit each, cleared one, and flipped all", bitwise},
	{"min-max", "found the least and the greatest of all PEs' numbers", minMax},
	{"prod", "multiplied integers, and added fractions and complex numbers", arithmetic},
	{"logical", "agreed whether all, any, or an odd number said yes", logical},
	{"masked", "wrote a byte each into one word", masked},
	{"swap-if", "kept the best score and whose it is in one word", swapIf},
	{"nbi", "started many fetching adds, and finished them by one Quiet", nonBlocking},
}

// walk does all steps. PE 0 writes a line to w for each.
func walk(pe *shmem.PE, w io.Writer) error {
	for _, step := range steps {
		if err := step.run(pe); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		pe.BarrierAll()
		if pe.MyPE() == 0 {
			if _, err := fmt.Fprintf(w, "%-9s %s\n", step.name, step.what); err != nil {
				return err
			}
		}
	}
	return nil
}

// Where not said otherwise, a step allocates words, which are zero, updates
// those of PE 0, and looks at them after a barrier.

// add: an operation that fetches nothing does not wait either. The barrier
// completes it.
func add(pe *shmem.PE) error {
	return first(counts[uint8](pe), counts[int16](pe), counts[int32](pe), counts[uint64](pe))
}

func counts[T shmem.Integer](pe *shmem.PE) error {
	x, err := shmem.Alloc[T](pe, 3) // small words next to each other are words of their own
	if err != nil {
		return err
	}
	for range 50 {
		shmem.AtomicInc(x.At(1), 0)
		shmem.AtomicAdd(x.At(2), 3, 0)
	}
	pe.BarrierAll()
	n := 50 * pe.NPEs() // what does not fit the word has wrapped around
	return first(equal(shmem.GetValue(x.At(1), 0), T(n)), equal(shmem.GetValue(x.At(2), 0), T(3*n)))
}

// tickets: the fetching form returns the value before.
func tickets(pe *shmem.PE) error {
	const each = 20
	next, err := shmem.Alloc[int64](pe, 1)
	if err != nil {
		return err
	}
	drawn, err := shmem.Alloc[int32](pe, each*pe.NPEs())
	if err != nil {
		return err
	}
	for range each {
		ticket := shmem.AtomicFetchInc(next, 0)
		shmem.AtomicInc(drawn.At(int(ticket)), 0)
	}
	pe.BarrierAll()
	if pe.MyPE() != 0 {
		return nil
	}
	for ticket, n := range drawn.Local() {
		if n != 1 {
			return fmt.Errorf("ticket %d was drawn %d times", ticket, n)
		}
	}
	return nil
}

// swap: every value that goes in comes out once, the last one stays.
func swap(pe *shmem.PE) error {
	x, err := shmem.Alloc[int64](pe, 2)
	if err != nil {
		return err
	}
	out := shmem.AtomicSwap(x.At(0), int64(pe.MyPE()+1), 0)
	shmem.AtomicAdd(x.At(1), out, 0)
	pe.BarrierAll()
	n := int64(pe.NPEs())
	return equal(shmem.AtomicFetch(x.At(0), 0)+shmem.AtomicFetch(x.At(1), 0), n*(n+1)/2)
}

// compareSwap: who swaps its number for 0 owns the word until it sets it back.
func compareSwap(pe *shmem.PE) error {
	x, err := shmem.Alloc[int64](pe, 2)
	if err != nil {
		return err
	}
	owner, sum, me := x.At(0), x.At(1), int64(pe.MyPE()+1)
	for shmem.AtomicCompareSwap(owner, 0, me, 0) != 0 {
		continue
	}
	shmem.PutValue(sum, shmem.GetValue(sum, 0)+me, 0) // not atomic, but alone
	pe.Quiet()
	shmem.AtomicSet(owner, 0, 0)
	pe.BarrierAll()
	n := int64(pe.NPEs())
	return equal(shmem.GetValue(sum, 0), n*(n+1)/2)
}

func bitwise(pe *shmem.PE) error {
	x, err := shmem.Alloc[uint64](pe, 1)
	if err != nil {
		return err
	}
	bit, all := uint64(1)<<(pe.MyPE()%64), uint64(0)
	for i := range pe.NPEs() {
		all |= 1 << (i % 64)
	}
	shmem.AtomicOr(x, bit, 0)
	pe.BarrierAll()
	if pe.MyPE() == 0 {
		if old := shmem.AtomicFetchAnd(x, ^uint64(1), 0); old != all {
			return fmt.Errorf("the bits are %#x, want %#x", old, all)
		}
		shmem.AtomicXor(x, ^uint64(0), 0)
	}
	pe.BarrierAll()
	return equal(shmem.AtomicFetch(x, 0), ^(all &^ 1))
}

// minMax, and all that follow, are beyond OpenSHMEM.
func minMax(pe *shmem.PE) error {
	x, err := shmem.Alloc[float64](pe, 2)
	if err != nil {
		return err
	}
	v := float64(pe.MyPE()) - 1.5
	shmem.AtomicMin(x.At(0), v, 0)
	shmem.AtomicMax(x.At(1), v, 0)
	pe.BarrierAll()
	least, greatest := shmem.AtomicFetch(x.At(0), 0), shmem.AtomicFetch(x.At(1), 0)
	return first(equal(least, -1.5), equal(greatest, max(0, float64(pe.NPEs())-2.5)))
}

func arithmetic(pe *shmem.PE) error {
	i, err := shmem.Alloc[uint64](pe, 1)
	if err != nil {
		return err
	}
	f, err := shmem.Alloc[float32](pe, 1)
	if err != nil {
		return err
	}
	c, err := shmem.Alloc[complex64](pe, 1)
	if err != nil {
		return err
	}
	if pe.MyPE() == 0 {
		shmem.AtomicSet(i, 1, 0)
	}
	pe.BarrierAll()
	shmem.AtomicProd(i, 3, 0)
	shmem.AtomicAdd(f, 0.25, 0)
	shmem.AtomicAdd(c, 1-2i, 0)
	pe.BarrierAll()
	n, product := pe.NPEs(), uint64(1)
	for range n {
		product *= 3 // wraps, as the atomic one does
	}
	return first(
		equal(shmem.AtomicFetch(i, 0), product),
		equal(shmem.AtomicFetch(f, 0), float32(n)/4),
		equal(shmem.AtomicFetch(c, 0), complex(float32(n), float32(-2*n))),
	)
}

// logical: any number but 0 is a yes; the result is 1 or 0.
func logical(pe *shmem.PE) error {
	x, err := shmem.Alloc[int32](pe, 3)
	if err != nil {
		return err
	}
	all, some, odd := x.At(0), x.At(1), x.At(2)
	if pe.MyPE() == 0 {
		shmem.AtomicSet(all, 1, 0)
	}
	pe.BarrierAll()
	shmem.AtomicLogicalAnd(all, int32(7+pe.MyPE()), 0) // all say yes
	shmem.AtomicLogicalOr(some, int32(pe.MyPE()), 0)   // all but PE 0
	shmem.AtomicLogicalXor(odd, 42, 0)                 // all
	pe.BarrierAll()
	return first(
		equal(shmem.AtomicFetch(all, 0), 1),
		equal(shmem.AtomicFetch(some, 0), min(1, int32(pe.NPEs()-1))),
		equal(shmem.AtomicFetch(odd, 0), int32(pe.NPEs()%2)),
	)
}

// masked: each PE's byte of a word is the mask's, the others stay.
func masked(pe *shmem.PE) error {
	x, err := shmem.Alloc[uint64](pe, 1)
	if err != nil {
		return err
	}
	if pe.MyPE() < 8 {
		shift := 8 * pe.MyPE()
		shmem.AtomicMaskedSwap(x, 0xff<<shift, ^uint64(0)/255*uint64(pe.MyPE()+1), 0)
	}
	pe.BarrierAll()
	var want uint64
	for i := range min(pe.NPEs(), 8) {
		want |= uint64(i+1) << (8 * i)
	}
	return equal(shmem.AtomicFetch(x, 0), want)
}

// swapIf: a score in the high bits and its PE in the low ones are one number, so
// that the two always belong together.
func swapIf(pe *shmem.PE) error {
	best, err := shmem.Alloc[uint32](pe, 1)
	if err != nil {
		return err
	}
	score := func(pe int) uint32 { return uint32(pe*37%11)<<16 | uint32(pe) }
	mine := score(pe.MyPE())
	shmem.AtomicCompareSwapIf(best, shmem.CmpLT, mine, mine, 0) // if what is there is less
	pe.BarrierAll()
	var want uint32
	for i := range pe.NPEs() {
		want = max(want, score(i))
	}
	return equal(shmem.AtomicFetch(best, 0), want)
}

// nonBlocking: the old values are there after Quiet.
func nonBlocking(pe *shmem.PE) error {
	const each = 50
	x, err := shmem.Alloc[int64](pe, 1)
	if err != nil {
		return err
	}
	old := make([]int64, each)
	for i := range old {
		shmem.AtomicFetchAddNBI(&old[i], x, 1, 0)
	}
	pe.Quiet()
	seen := map[int64]bool{}
	for _, v := range old {
		if seen[v] || v < 0 || v >= int64(each*pe.NPEs()) {
			return fmt.Errorf("the old values are %v", old)
		}
		seen[v] = true
	}
	pe.BarrierAll()
	return equal(shmem.AtomicFetch(x, 0), int64(each*pe.NPEs()))
}

func equal[T comparable](got, want T) error {
	if got != want {
		return fmt.Errorf("the word is %v, want %v", got, want)
	}
	return nil
}

// first returns the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
