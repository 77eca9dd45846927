// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

func waitWordsRows() []row {
	return []row{
		{
			sec: "9.11.2", name: "wait_until_all: returns when the last word has come, and all data ordered before",
			np: 2, faults: []fault{lostWords, lostPuts},
			run:     func(pe *shmem.PE) error { return gathered(pe, pe.Fence) },
			without: func(pe *shmem.PE) error { return gathered(pe, func() {}) },
		},
		{
			sec: "9.11.2", name: "wait_until_all: one of several words is not all",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x, late := alloc[int32](pe, 3), alloc[int32](pe, 1)
				shmem.AtomicSet(x.At(0), 1, right(pe))
				shmem.WaitUntil(x.At(0), shmem.CmpEQ, 1)
				return together(2, func(i int) error {
					if i == 0 {
						shmem.WaitUntilAll(x, nil, shmem.CmpNE, 0)
						return equal("set when the wait is over", shmem.AtomicFetch(late, pe.MyPE()), 1)
					}
					shmem.AtomicSet(late, 1, pe.MyPE())
					pe.Fence()
					shmem.AtomicSet(x.At(1), 1, pe.MyPE())
					shmem.AtomicSet(x.At(2), 1, pe.MyPE())
					return nil
				})
			},
		},
		{
			sec: "9.11.2", name: "wait_until_all, test_all: of no words are true at once",
			run: func(pe *shmem.PE) error {
				x, none := alloc[int32](pe, 3), alloc[int32](pe, 0)
				status := []int{1, 1, 1}
				shmem.WaitUntilAll(x, status, shmem.CmpNE, 0)
				shmem.WaitUntilAll(none, nil, shmem.CmpNE, 0)
				shmem.WaitUntilAllVector(x, status, shmem.CmpNE, []int32{0, 0, 0})
				return first(
					equal("all masked, none at all", []bool{shmem.TestAll(x, status, shmem.CmpNE, 0), shmem.TestAll(none, nil, shmem.CmpNE, 0)}, []bool{true, true}),
					equal("mask", status, []int{1, 1, 1}),
				)
			},
		},
		{
			sec: "9.11.3", name: "wait_until_any, test_any: of no words are −1 at once",
			run: func(pe *shmem.PE) error {
				x, none := alloc[uint64](pe, 2), alloc[uint64](pe, 0)
				status := []int{-1, 7}
				return first(
					equal("any", []int{
						shmem.WaitUntilAny(x, status, shmem.CmpEQ, 0), shmem.WaitUntilAny(none, nil, shmem.CmpEQ, 0),
						shmem.WaitUntilAnyVector(x, status, shmem.CmpEQ, []uint64{0, 0}),
						shmem.TestAny(x, status, shmem.CmpEQ, 0), shmem.TestAny(none, nil, shmem.CmpEQ, 0),
					}, []int{-1, -1, -1, -1, -1}),
					equal("mask", status, []int{-1, 7}),
				)
			},
		},
		{
			sec: "9.11.3", name: "wait_until_any: each word once, with a mask for those that have come",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return collectAny(pe, func(x shmem.Sym[int16], status []int) int {
					return shmem.WaitUntilAny(x, status, shmem.CmpGT, 0)
				})
			},
		},
		{
			sec: "9.11.3", name: "wait_until_any: in the end returns every word that satisfies",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return fair(pe, func(x shmem.Sym[int64]) int { return shmem.WaitUntilAny(x, nil, shmem.CmpEQ, 1) })
			},
		},
		{
			sec: "9.11.4", name: "wait_until_some: every word that has come, in the end each once",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return collectSome(pe, func(indices []int, x shmem.Sym[uint8], status []int) int {
					return shmem.WaitUntilSome(indices, x, status, shmem.CmpNE, 0)
				})
			},
		},
		{
			sec: "9.11.4", name: "wait_until_some, test_some: of no words are none at once",
			run: func(pe *shmem.PE) error {
				x, none := alloc[uint32](pe, 2), alloc[uint32](pe, 0)
				status, indices := []int{1, 1}, []int{8, 9}
				return first(
					equal("some", []int{
						shmem.WaitUntilSome(indices, x, status, shmem.CmpEQ, 0), shmem.WaitUntilSome(nil, none, nil, shmem.CmpEQ, 0),
						shmem.WaitUntilSomeVector(indices, x, status, shmem.CmpEQ, []uint32{0, 0}),
						shmem.TestSome(indices, x, status, shmem.CmpEQ, 0), shmem.TestSome(indices, none, nil, shmem.CmpEQ, 0),
					}, []int{0, 0, 0, 0, 0}),
					equal("indices", indices, []int{8, 9}), equal("mask", status, []int{1, 1}),
				)
			},
		},
		{
			sec: "9.11.5", name: "wait_until_all_vector: each word its own value, its own bytes alone",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return first(vectored[int8](pe), vectored[uint16](pe), vectored[int32](pe), vectored[uint64](pe))
			},
		},
		{
			sec: "9.11.6", name: "wait_until_any_vector: the word that has its own value",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 4)
				want := []int32{7, 8, 9, 10}
				shmem.AtomicSet(x.At(1), 7, right(pe)) // the value of another word
				shmem.AtomicSet(x.At(2), 9, right(pe))
				return equal("index", shmem.WaitUntilAnyVector(x, nil, shmem.CmpEQ, want), 2)
			},
		},
		{
			sec: "9.11.7", name: "wait_until_some_vector: the words that have their own values",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[int64](pe, 4)
				for i := range int64(4) {
					shmem.AtomicSet(x.At(int(i)), -i, right(pe))
				}
				pe.BarrierAll()
				indices := make([]int, 5)
				n := shmem.WaitUntilSomeVector(indices, x, []int{0, 0, 1, 0}, shmem.CmpLE, []int64{-1, -1, -1, -1})
				return equal("indices", indices[:n], []int{1, 3})
			},
		},
		{
			sec: "9.11.1", name: "waits with a context (beyond the specification): end with it, or with the word",
			faults: []fault{lostAtomics},
			run:    contextual,
		},
	}
}

// gathered has every PE put data and a flag to PE 0, which waits for all flags but its own.
func gathered(pe *shmem.PE, fence func()) error {
	n := pe.NPEs()
	x, flags := alloc[int64](pe, 8*n), alloc[int32](pe, n)
	for round := range int32(5) {
		if me := pe.MyPE(); me != 0 {
			shmem.Put(x.Slice(8*me, 8*me+8), count(int64(round), 8), 0)
			fence()
			shmem.PutValue(flags.At(me), round+1, 0)
			shmem.WaitUntil(flags.At(0), shmem.CmpEQ, round+1)
			continue
		}
		status := make([]int, n)
		status[0] = 1
		shmem.WaitUntilAll(flags, status, shmem.CmpEQ, round+1)
		for i := 1; i < n; i++ {
			if err := equal("data at the flag", x.Local()[8*i:8*i+8], count(int64(round), 8)); err != nil {
				return err
			}
		}
		for i := 1; i < n; i++ {
			shmem.PutValue(flags.At(0), round+1, i)
		}
	}
	return nil
}

// collectAny has every PE set a word of its own on all PEs, and takes them in one by one.
func collectAny(pe *shmem.PE, next func(x shmem.Sym[int16], status []int) int) error {
	n := pe.NPEs()
	x, status := alloc[int16](pe, n), make([]int, n)
	for i := range n {
		shmem.AtomicSet(x.At(pe.MyPE()), int16(pe.MyPE()+1), i)
	}
	for range n {
		i := next(x, status)
		if i < 0 || i >= n || status[i] != 0 {
			return broken("returned %d, with %v masked", i, status)
		}
		if err := equal("word", shmem.AtomicFetch(x.At(i), pe.MyPE()), int16(i+1)); err != nil {
			return err
		}
		status[i] = 1
	}
	return equal("when all are masked", next(x, status), -1)
}

// collectSome is collectAny for several at a time.
func collectSome(pe *shmem.PE, next func(indices []int, x shmem.Sym[uint8], status []int) int) error {
	n := pe.NPEs()
	x, status, indices := alloc[uint8](pe, n), make([]int, n), make([]int, n)
	for i := range n {
		shmem.AtomicSet(x.At(pe.MyPE()), 255, i)
	}
	for left := n; left > 0; {
		k := next(indices, x, status)
		if k < 1 || k > left {
			return broken("returned %d, with %v masked", k, status)
		}
		for _, i := range indices[:k] {
			if status[i] != 0 || x.Local()[i] != 255 {
				return broken("index %d of %v, with %v masked and words %v", i, indices[:k], status, x.Local())
			}
			status[i] = 1
		}
		left -= k
	}
	return equal("when all are masked", next(indices, x, status), 0)
}

// fair asks for one of four words that another PE has set until it has had each, and about another
// set in between.
func fair(pe *shmem.PE, next func(x shmem.Sym[int64]) int) error {
	x, y := alloc[int64](pe, 4), alloc[int64](pe, 2)
	for i := range x.Len() {
		shmem.AtomicSet(x.At(i), 1, right(pe))
	}
	for i := range y.Len() {
		shmem.AtomicSet(y.At(i), 1, right(pe))
	}
	pe.BarrierAll()
	var seen [4]bool
	for range 1000 {
		if i := next(x); i >= 0 {
			seen[i] = true
		}
		next(y)
		if !slices.Contains(seen[:], false) {
			return nil
		}
	}
	return broken("of four words, in 1000 calls, returned %v", seen)
}

// vectored waits for words among others that are all ones.
func vectored[T shmem.Integer](pe *shmem.PE) error {
	x := alloc[T](pe, 9)
	for i := range x.Local() {
		x.Local()[i]--
	}
	pe.SyncAll()
	want, status := make([]T, 9), []int{1, 0, 0, 0, 1, 0, 0, 0, 1}
	for i := range want {
		want[i] = T(i)
		if status[i] == 0 {
			shmem.AtomicSet(x.At(i), T(i), right(pe))
		}
	}
	shmem.WaitUntilAllVector(x, status, shmem.CmpEQ, want)
	shmem.WaitUntilAll(x, status, shmem.CmpLE, 7)
	return equal("words left out", []T{x.Local()[0], x.Local()[4], x.Local()[8]}, []T{want[0] - 1, want[0] - 1, want[0] - 1})
}

func contextual(pe *shmem.PE) error {
	x, sig := alloc[int32](pe, 3), alloc[uint64](pe, 1)
	bg := context.Background()
	soon, cancel := context.WithTimeout(bg, 5*time.Millisecond)
	defer cancel()
	indices := make([]int, 3)
	vain := []error{
		shmem.WaitUntilContext(soon, x.At(0), shmem.CmpNE, 0),
		shmem.WaitUntilAllContext(soon, x, nil, shmem.CmpNE, 0),
		shmem.WaitUntilAllVectorContext(soon, x, nil, shmem.CmpNE, []int32{0, 0, 0}),
	}
	for _, wait := range []func() (int, error){
		func() (int, error) { return shmem.WaitUntilAnyContext(soon, x, nil, shmem.CmpNE, 0) },
		func() (int, error) {
			return shmem.WaitUntilAnyVectorContext(soon, x, nil, shmem.CmpEQ, []int32{1, 2, 3})
		},
		func() (int, error) { return shmem.WaitUntilSomeContext(soon, indices, x, nil, shmem.CmpNE, 0) },
		func() (int, error) {
			return shmem.WaitUntilSomeVectorContext(soon, indices, x, nil, shmem.CmpEQ, []int32{1, 2, 3})
		},
		func() (int, error) {
			v, err := shmem.SignalWaitUntilContext(soon, sig, shmem.CmpNE, 0)
			return int(v), err
		},
	} {
		i, err := wait()
		if i > 0 {
			return broken("in vain, and returned %d", i)
		}
		vain = append(vain, err)
	}
	for i, err := range vain {
		if !errors.Is(err, context.DeadlineExceeded) {
			return broken("wait %d in vain ended with %v", i, err)
		}
	}
	pe.SyncAll()
	shmem.AtomicSet(x.At(1), 5, right(pe))
	shmem.SignalSet(sig, 6, right(pe))
	i, err := shmem.WaitUntilAnyContext(bg, x, nil, shmem.CmpNE, 0)
	if err := first(err, equal("any", i, 1)); err != nil {
		return err
	}
	n, err := shmem.WaitUntilSomeContext(soon, indices, x, nil, shmem.CmpNE, 0) // done, but the word is there
	if err := first(err, equal("some", indices[:n], []int{1})); err != nil {
		return err
	}
	v, err := shmem.SignalWaitUntilContext(bg, sig, shmem.CmpGE, 6)
	return first(err, equal("signal", v, 6), shmem.WaitUntilAllContext(bg, x, []int{1, 0, 1}, shmem.CmpEQ, 5))
}

func testWordsRows() []row {
	return []row{
		{
			sec: "9.11.9", name: "test_all: true when the last word has come, but for those left out",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[int32](pe, 3)
				shmem.AtomicSet(x.At(0), 1, right(pe))
				pe.BarrierAll()
				if err := equal("one of three", []bool{
					shmem.TestAll(x, nil, shmem.CmpEQ, 1), shmem.TestAll(x, []int{0, 1, 1}, shmem.CmpEQ, 1), shmem.TestAll(x, []int{0, 0, 1}, shmem.CmpEQ, 1),
				}, []bool{false, true, false}); err != nil {
					return err
				}
				pe.SyncAll()
				shmem.AtomicSet(x.At(1), 1, right(pe))
				shmem.AtomicSet(x.At(2), 1, right(pe))
				for !shmem.TestAll(x, nil, shmem.CmpEQ, 1) {
					continue
				}
				return nil
			},
		},
		{
			sec: "9.11.10", name: "test_any: each word once, polled for",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return collectAny(pe, func(x shmem.Sym[int16], status []int) int {
					return polledAny(x, status, func() int { return shmem.TestAny(x, status, shmem.CmpGT, 0) })
				})
			},
		},
		{
			sec: "9.11.10", name: "test_any: in the end returns every word that satisfies",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return fair(pe, func(x shmem.Sym[int64]) int { return shmem.TestAny(x, nil, shmem.CmpEQ, 1) })
			},
		},
		{
			sec: "9.11.11", name: "test_some: every word that has come, in the end each once",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return collectSome(pe, func(indices []int, x shmem.Sym[uint8], status []int) int {
					for {
						if n := shmem.TestSome(indices, x, status, shmem.CmpNE, 0); n > 0 || !slices.Contains(status, 0) {
							return n
						}
					}
				})
			},
		},
		{
			sec: "9.11.12", name: "test_all_vector: each word its own value",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x := alloc[uint16](pe, 3)
				for i := range 3 {
					shmem.AtomicSet(x.At(i), uint16(60000+i), right(pe))
				}
				pe.BarrierAll()
				return equal("tests", []bool{
					shmem.TestAllVector(x, nil, shmem.CmpEQ, []uint16{60000, 60001, 60002}), shmem.TestAllVector(x, nil, shmem.CmpEQ, []uint16{60000, 60001, 60003}),
					shmem.TestAllVector(x, []int{0, 0, 1}, shmem.CmpEQ, []uint16{60000, 60001, 60003}), shmem.TestAllVector(x, nil, shmem.CmpGT, []uint16{0, 0, 0}),
				}, []bool{true, false, true, true})
			},
		},
		{
			sec: "9.11.13", name: "test_any_vector: each word once, each with its own value",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				return collectAny(pe, func(x shmem.Sym[int16], status []int) int {
					return polledAny(x, status, func() int { return shmem.TestAnyVector(x, status, shmem.CmpEQ, count(int16(1), x.Len())) })
				})
			},
		},
		{
			sec: "9.11.14", name: "test_some_vector: the words that have their own values",
			faults: []fault{lostAtomics},
			run: func(pe *shmem.PE) error {
				x, indices := alloc[int8](pe, 3), make([]int, 3)
				if err := equal("before", shmem.TestSomeVector(indices, x, nil, shmem.CmpEQ, []int8{1, 2, 3}), 0); err != nil {
					return err
				}
				pe.SyncAll()
				for i := range 3 {
					shmem.AtomicSet(x.At(i), int8(i+1), right(pe))
				}
				pe.BarrierAll()
				n := shmem.TestSomeVector(indices, x, nil, shmem.CmpEQ, []int8{1, -2, 3})
				return equal("indices", indices[:n], []int{0, 2})
			},
		},
	}
}

// polledAny polls until there is a word, or none to poll for.
func polledAny(x shmem.Sym[int16], status []int, test func() int) int {
	for {
		if i := test(); i >= 0 || !slices.Contains(status[:x.Len()], 0) {
			return i
		}
	}
}
