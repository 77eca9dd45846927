// SPDX-License-Identifier: BSD-3-Clause

package shmem

// The tests of several words are to their waits what Test is to WaitUntil: they take and
// refuse the same, never wait, and let other PEs and goroutines run now and then when
// the answer is no.

// TestAll reports whether each element of x that status does not leave out compares to v
// as cmp says. If there is none, it reports true.
//
// OpenSHMEM 1.6, 9.11.9 (shmem_test_all).
func TestAll[T Integer](x Sym[T], status []int, cmp Cmp, v T) bool {
	s := wordSet[T]{x: x, status: status, cmp: cmp, v: v}
	s.check("TestAll")
	return s.testAll("TestAll")
}

// TestAny returns the index of an element of x that status does not leave out and that
// compares to v as cmp says, or −1 if there is none. An element that goes on to satisfy is
// returned in the end, however many others do.
//
// OpenSHMEM 1.6, 9.11.10 (shmem_test_any, where none is SIZE_MAX).
func TestAny[T Integer](x Sym[T], status []int, cmp Cmp, v T) int {
	s := wordSet[T]{x: x, status: status, cmp: cmp, v: v}
	s.check("TestAny")
	return s.testAny("TestAny")
}

// TestSome stores, in indices, the index of each element of x that status does not leave
// out and that compares to v as cmp says, in ascending order, and returns how many there
// are.
//
// TestSome also panics if indices has fewer elements than x. OpenSHMEM 1.6, 9.11.11
// (shmem_test_some).
func TestSome[T Integer](indices []int, x Sym[T], status []int, cmp Cmp, v T) int {
	s := wordSet[T]{x: x, status: status, cmp: cmp, v: v}
	s.check("TestSome")
	s.checkIndices("TestSome", indices)
	return s.testSome("TestSome", indices)
}

// TestAllVector is TestAll with a value for each element. OpenSHMEM 1.6, 9.11.12
// (shmem_test_all_vector).
func TestAllVector[T Integer](x Sym[T], status []int, cmp Cmp, v []T) bool {
	s := wordSet[T]{x: x, status: status, cmp: cmp, values: v}
	s.checkVector("TestAllVector")
	return s.testAll("TestAllVector")
}

// TestAnyVector is TestAny with a value for each element. OpenSHMEM 1.6, 9.11.13
// (shmem_test_any_vector).
func TestAnyVector[T Integer](x Sym[T], status []int, cmp Cmp, v []T) int {
	s := wordSet[T]{x: x, status: status, cmp: cmp, values: v}
	s.checkVector("TestAnyVector")
	return s.testAny("TestAnyVector")
}

// TestSomeVector is TestSome with a value for each element. OpenSHMEM 1.6, 9.11.14
// (shmem_test_some_vector).
func TestSomeVector[T Integer](indices []int, x Sym[T], status []int, cmp Cmp, v []T) int {
	s := wordSet[T]{x: x, status: status, cmp: cmp, values: v}
	s.checkVector("TestSomeVector")
	s.checkIndices("TestSomeVector", indices)
	return s.testSome("TestSomeVector", indices)
}

func (s *wordSet[T]) testAll(op string) bool {
	for i := range s.x.n {
		if s.counts(i) && !s.holds(i) {
			s.x.ctx.polled(op)
			return false
		}
	}
	return true
}

func (s *wordSet[T]) testAny(op string) int {
	i := -1
	if s.x.n > 0 {
		i = s.first()
	}
	if i < 0 {
		s.x.ctx.polled(op)
	}
	return i
}

func (s *wordSet[T]) testSome(op string, indices []int) int {
	n := s.all(indices)
	if n == 0 {
		s.x.ctx.polled(op)
	}
	return n
}
