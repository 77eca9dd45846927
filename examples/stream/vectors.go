// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

const (
	scalar = 3
	block  = 4096 // elements that are got at a time
)

// vectors are one PE's three vectors, which are the same on all PEs.
type vectors struct {
	pe        *shmem.PE
	a, b, c   shmem.Sym[float64]
	d         []float64 // the triad of the neighbour's b and c
	neighbour int
	got       [2][]float64 // blocks of b and c
}

// newVectors is collective.
func newVectors(pe *shmem.PE, n int) (*vectors, error) {
	v := &vectors{
		pe: pe, neighbour: (pe.MyPE() + 1) % pe.NPEs(), d: make([]float64, n),
		got: [2][]float64{make([]float64, min(n, block)), make([]float64, min(n, block))},
	}
	for _, x := range []*shmem.Sym[float64]{&v.a, &v.b, &v.c} {
		var err error
		if *x, err = shmem.Alloc[float64](pe, n); err != nil {
			return nil, err
		}
	}
	for i := range n {
		v.a.Local()[i] = 1
	}
	return v, nil
}

// A kernel streams some vectors through the PE.
type kernel struct {
	name    string
	vectors int // read or written
	run     func()
}

// kernels returns the four of STREAM, and the triad of the neighbour's vectors.
func (v *vectors) kernels() []kernel {
	a, b, c := v.a.Local(), v.b.Local(), v.c.Local()
	return []kernel{
		{"Copy", 2, func() { copy(c, a) }},
		{"Scale", 2, func() {
			for i, x := range c {
				b[i] = scalar * x
			}
		}},
		{"Add", 3, func() {
			for i, x := range a {
				c[i] = x + b[i]
			}
		}},
		{"Triad", 3, func() { triad(a, b, c) }},
		{"Triad, remote", 3, v.remote},
	}
}

// triad computes a = b + scalar·c.
func triad(a, b, c []float64) {
	b, c = b[:len(a)], c[:len(a)]
	for i := range a {
		a[i] = b[i] + scalar*c[i]
	}
}

// remote computes the triad of the neighbour's b and c: in place if they are in
// reach, else block by block.
func (v *vectors) remote() {
	b, c := shmem.Ptr(v.b, v.neighbour), shmem.Ptr(v.c, v.neighbour)
	if b != nil && c != nil {
		triad(v.d, b, c)
		return
	}
	for first := 0; first < len(v.d); first += block {
		end := min(first+block, len(v.d))
		b, c := v.got[0][:end-first], v.got[1][:end-first]
		shmem.GetNBI(b, v.b.Slice(first, end), v.neighbour)
		shmem.GetNBI(c, v.c.Slice(first, end), v.neighbour)
		v.pe.Quiet()
		triad(v.d[first:end], b, c)
	}
}

// distance says how the neighbour's vectors are read.
func (v *vectors) distance() string {
	if shmem.Ptr(v.b, v.neighbour) != nil {
		return "in reach"
	}
	return "got in blocks"
}

// check returns how many elements are wrong after all kernels have run so many
// times: they are what the same operations make of one number.
func (v *vectors) check(times int) (wrong int) {
	a, b, c := 1., 0., 0.
	for range times {
		c = a
		b = scalar * c
		c = a + b
		a = b + scalar*c
	}
	count := func(x []float64, want float64) {
		for _, got := range x {
			if got != want {
				wrong++
			}
		}
	}
	count(v.a.Local(), a)
	count(v.b.Local(), b)
	count(v.c.Local(), c)
	count(v.d, a)
	return wrong
}
