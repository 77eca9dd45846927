// SPDX-License-Identifier: BSD-3-Clause

package symheap

import "slices"

// Members are the PEs of a group in its order, by their numbers in the world.
// Most groups are an arithmetic sequence, and cost three words whatever their size.
type Members struct {
	start, stride, n int
	list             []int // the numbers where they are no such sequence, or nil
}

// All returns the members of the world, npes PEs.
func All(npes int) Members { return Members{stride: 1, n: npes} }

// Listed returns the members of the world's numbers in list, which it keeps.
func Listed(list []int) Members {
	m := Members{n: len(list), list: list}
	if m.n > 0 {
		m.start = list[0]
	}
	if m.n > 1 {
		m.stride = list[1] - list[0]
	}
	for i, pe := range list {
		if pe != m.start+i*m.stride {
			return m
		}
	}
	m.list = nil
	return m
}

// NPEs returns how many members there are.
func (m Members) NPEs() int { return m.n }

// World returns the world's number of member i.
func (m Members) World(i int) int {
	if m.list != nil {
		return m.list[i]
	}
	return m.start + i*m.stride
}

// Index returns which member the world's PE pe is, or -1.
func (m Members) Index(pe int) int {
	if m.list != nil {
		return slices.Index(m.list, pe)
	}
	d := pe - m.start
	switch {
	case d == 0 && m.n > 0:
		return 0
	case m.stride == 0 || d%m.stride != 0 || d/m.stride < 0 || d/m.stride >= m.n:
		return -1
	}
	return d / m.stride
}

// Strided returns the n members start, start+stride, start+2·stride and so on.
// They are all members of m.
func (m Members) Strided(start, stride, n int) Members {
	if m.list == nil {
		return Members{start: m.World(start), stride: stride * m.stride, n: n}
	}
	list := make([]int, n)
	for i := range list {
		list[i] = m.list[start+i*stride]
	}
	return Listed(list)
}
