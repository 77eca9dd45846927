// SPDX-License-Identifier: BSD-3-Clause

package nas

import "github.com/goshmem/goshmem/shmem"

// A Sum adds numbers up over all PEs, a few at a time. Nobody has a sum before
// everybody has given a part of it, so it is a barrier too: what a PE wrote to
// its own memory before is there for all who have the sum.
type Sum struct {
	pe   *shmem.PE
	mine shmem.Sym[float64]
	// The sums. They take turns, because a PE may still be reading the last ones
	// when another begins the next; nobody reads those before the last any more.
	all  [2]shmem.Sym[float64]
	turn int
}

// NewSum returns a Sum of up to n numbers at a time. It is collective over all PEs.
func NewSum(pe *shmem.PE, n int) (*Sum, error) {
	s := &Sum{pe: pe}
	for _, x := range []*shmem.Sym[float64]{&s.mine, &s.all[0], &s.all[1]} {
		var err error
		if *x, err = shmem.Alloc[float64](pe, n); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Of returns the sum over all PEs of each of parts, in a slice that is valid
// until the next call. All PEs get the same bits. It is collective over all PEs,
// which give equally many parts.
func (s *Sum) Of(parts ...float64) []float64 {
	n := copy(s.mine.Local(), parts)
	all := s.all[s.turn].Slice(0, n)
	s.turn = 1 - s.turn
	shmem.SumReduce(s.pe.World(), all, s.mine.Slice(0, n))
	return all.Local()
}
