// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"sync/atomic"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/spin"
)

// The waits for several words take an object x of any number of elements, the calling
// PE's own, and a mask: status[i] other than 0 leaves x's element i out. A nil mask
// leaves none out; any other has x.Len() elements, and is never written. The forms named
// Vector compare element i to v[i], the others all to v.
//
// What an update makes visible is what WaitUntil says. All of them panic if x is zero or
// freed, if cmp is none of the six, or if a mask or v has another length than x.

// WaitUntilAll returns once each element of x that status does not leave out has
// compared to v as cmp says. If there is none, it returns at once.
//
// OpenSHMEM 1.6, 9.11.2 (shmem_wait_until_all).
func WaitUntilAll[T Integer](x Sym[T], status []int, cmp Cmp, v T) {
	s := wordSet[T]{x: x, status: status, cmp: cmp, v: v}
	s.check("WaitUntilAll")
	s.awaitAll("WaitUntilAll", nil)
}

// WaitUntilAny returns the index of an element of x that status does not leave out
// and that compares to v as cmp says, once there is one: −1 at once if status leaves out
// all. An element that goes on to satisfy is returned in the end, however many others do.
//
// OpenSHMEM 1.6, 9.11.3 (shmem_wait_until_any, where none is SIZE_MAX).
func WaitUntilAny[T Integer](x Sym[T], status []int, cmp Cmp, v T) int {
	s := wordSet[T]{x: x, status: status, cmp: cmp, v: v}
	s.check("WaitUntilAny")
	return s.awaitAny("WaitUntilAny", nil)
}

// WaitUntilSome stores, in indices, the index of each element of x that status does
// not leave out and that compares to v as cmp says, in ascending order, once there is
// one, and returns how many there are: 0 at once if status leaves out all.
//
// WaitUntilSome also panics if indices has fewer elements than x. OpenSHMEM 1.6, 9.11.4
// (shmem_wait_until_some).
func WaitUntilSome[T Integer](indices []int, x Sym[T], status []int, cmp Cmp, v T) int {
	s := wordSet[T]{x: x, status: status, cmp: cmp, v: v}
	s.check("WaitUntilSome")
	s.checkIndices("WaitUntilSome", indices)
	return s.awaitSome("WaitUntilSome", indices, nil)
}

// WaitUntilAllVector is WaitUntilAll with a value for each element. OpenSHMEM 1.6,
// 9.11.5 (shmem_wait_until_all_vector).
func WaitUntilAllVector[T Integer](x Sym[T], status []int, cmp Cmp, v []T) {
	s := wordSet[T]{x: x, status: status, cmp: cmp, values: v}
	s.checkVector("WaitUntilAllVector")
	s.awaitAll("WaitUntilAllVector", nil)
}

// WaitUntilAnyVector is WaitUntilAny with a value for each element. OpenSHMEM 1.6,
// 9.11.6 (shmem_wait_until_any_vector).
func WaitUntilAnyVector[T Integer](x Sym[T], status []int, cmp Cmp, v []T) int {
	s := wordSet[T]{x: x, status: status, cmp: cmp, values: v}
	s.checkVector("WaitUntilAnyVector")
	return s.awaitAny("WaitUntilAnyVector", nil)
}

// WaitUntilSomeVector is WaitUntilSome with a value for each element. OpenSHMEM 1.6,
// 9.11.7 (shmem_wait_until_some_vector).
func WaitUntilSomeVector[T Integer](indices []int, x Sym[T], status []int, cmp Cmp, v []T) int {
	s := wordSet[T]{x: x, status: status, cmp: cmp, values: v}
	s.checkVector("WaitUntilSomeVector")
	s.checkIndices("WaitUntilSomeVector", indices)
	return s.awaitSome("WaitUntilSomeVector", indices, nil)
}

// A wordSet is what a wait or a test for several words is about. Its methods follow
// the checks.
type wordSet[T Integer] struct {
	x      Sym[T]
	status []int // nil: all count
	cmp    Cmp
	v      T
	values []T // unless nil, in place of v
}

func (s *wordSet[T]) check(op string) {
	s.x.check(op, s.x.n, 0)
	if !s.cmp.Valid() {
		s.x.refuse(op, -1, "comparison %d is none of CmpEQ, NE, GT, GE, LT, LE", uint8(s.cmp))
	}
	if s.status != nil && len(s.status) != s.x.n {
		s.x.refuse(op, -1, "the mask has %d elements, the object %d", len(s.status), s.x.n)
	}
}

func (s *wordSet[T]) checkVector(op string) {
	s.check(op)
	if len(s.values) != s.x.n {
		s.x.refuse(op, -1, "there are %d values, for an object of %d elements", len(s.values), s.x.n)
	}
}

func (s *wordSet[T]) checkIndices(op string, indices []int) {
	if len(indices) < s.x.n {
		s.x.refuse(op, -1, "there is room for %d indices, the object has %d elements", len(indices), s.x.n)
	}
}

// counts reports whether element i does.
func (s *wordSet[T]) counts(i int) bool { return s.status == nil || s.status[i] == 0 }

// holds reports whether element i satisfies.
func (s *wordSet[T]) holds(i int) bool { return holds(s.x.At(i), s.cmp, s.value(i)) }

func (s *wordSet[T]) value(i int) T {
	if s.values != nil {
		return s.values[i]
	}
	return s.v
}

// isEmpty reports whether no element counts.
func (s *wordSet[T]) isEmpty() bool {
	for i := range s.x.n {
		if s.counts(i) {
			return false
		}
	}
	return true
}

// first returns the first element that satisfies, from one on that differs from call to
// call, or -1.
func (s *wordSet[T]) first() int {
	n := s.x.n
	i := s.x.ctx.pe.draw(n)
	for range n {
		if s.counts(i) && s.holds(i) {
			return i
		}
		if i++; i == n {
			i = 0
		}
	}
	return -1
}

// all returns the number of elements that satisfy, and stores which.
func (s *wordSet[T]) all(indices []int) (n int) {
	for i := range s.x.n {
		if s.counts(i) && s.holds(i) {
			indices[n] = i
			n++
		}
	}
	return n
}

// draw returns a number in [0, n), n > 0, that each call has another chance to get: by
// turns, two sets that a program asks about in turn would each see every other one only.
// A sequence of its own for each PE keeps runs in virtual time reproducible.
func (pe *PE) draw(n int) int {
	if n == 1 {
		return 0
	}
	x := pe.draws.Add(0x9e3779b97f4a7c15) // SplitMix64 (Steele, Lea & Flood 2014)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) >> 1 % uint64(n))
}

// awaitAll returns once each element has satisfied, or when stop ends it: false.
func (s *wordSet[T]) awaitAll(op string, stop *atomic.Bool) bool {
	for i := range s.x.n {
		if !s.counts(i) {
			continue
		}
		one := wordSet[T]{x: s.x.At(i), cmp: s.cmp, v: s.value(i)}
		if one.awaitAny(op, stop) < 0 {
			return false
		}
	}
	return true
}

// awaitSome is awaitAny and all.
func (s *wordSet[T]) awaitSome(op string, indices []int, stop *atomic.Bool) int {
	if s.isEmpty() {
		return 0
	}
	for {
		if n := s.all(indices); n > 0 {
			return n
		}
		if s.awaitAny(op, stop) < 0 {
			return 0
		}
	}
}

// awaitAny returns an element that satisfies, once there is one; -1 if none counts, or
// when stop ends the wait.
func (s *wordSet[T]) awaitAny(op string, stop *atomic.Bool) int {
	if s.isEmpty() {
		return -1
	}
	w := &s.x.ctx.w
	for range w.Spin()/s.x.n + 1 {
		if i := s.first(); i >= 0 {
			return i
		}
		spin.Pause()
	}
	set := fabric.Conds{
		Cond: condition(s.x, s.cmp, s.v), N: s.x.n, Values: bytesOfEscaping(s.values), Skip: s.status, Stop: stop,
	}
	for {
		var err error
		if set.Single() {
			err = w.Domain().Wait(set.Cond)
		} else {
			err = w.Domain().WaitAny(set)
		}
		s.x.ctx.must(op, -1, err)
		if i := s.first(); i >= 0 {
			return i
		}
		if set.Stopped() {
			return -1
		}
	}
}
