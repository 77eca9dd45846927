// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"cmp"
	"errors"
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/symheap"
)

// Splits are collective: every PE of the team that is split calls them, with the
// same arguments, and all get an error or none does. Who is in no new team gets nil. The
// team and the new ones may be used at once; each new one is ended by Destroy.

// errNoTeam is what splitting a nil team gives, as the specification asks.
var errNoTeam = errors.New("the team is nil: this PE is no member")

// SplitStrided makes a team of size PEs of t: start, start+stride and so on, by
// their numbers in t, which become 0 to size-1. stride may be negative, and 0 if
// size is 1. config may hold one TeamConfig.
//
// Every PE of t calls it, with the same arguments; those outside of the new team get
// nil. The error is the same on all: the PEs that are named are not all in t, t is nil, or
// there are too many teams. SplitStrided panics if t is destroyed, or on a mismatch.
// OpenSHMEM 1.6, 9.4.6 (shmem_team_split_strided).
func (t *Team) SplitStrided(start, stride, size int, config ...TeamConfig) (*Team, error) {
	const op = "SplitStrided"
	if t == nil {
		return nil, fmt.Errorf("shmem: %s: %w", op, errNoTeam)
	}
	t.check(op)
	call := collectives.Call{
		Kind: collectives.KindSplitStrided, Elem: digest(config), N: uint64(size),
		Arg: uint64(uint32(start))<<32 | uint64(uint32(stride)),
	}
	if err := t.checkStride(start, stride, size, config); err != nil {
		t.sync(op, call) // all members find the same
		return nil, fmt.Errorf("shmem: %s: %w", op, err)
	}
	m := t.members().Strided(start, stride, size)
	slots, err := t.claimSlots(op, call, t.pe.memberships(m))
	if err != nil {
		return nil, err
	}
	return t.pe.joinTeam(m, slots[0], config, 0), nil
}

// checkStride returns why there are no such PEs in t.
func (t *Team) checkStride(start, stride, size int, config []TeamConfig) error {
	n := t.group.NPEs()
	switch {
	case start < 0 || start >= n:
		return fmt.Errorf("it starts at PE %d: the team's PEs are 0 to %d", start, n-1)
	case size < 1 || size > n:
		return fmt.Errorf("%d PEs of a team of %d", size, n)
	case stride == 0 && size > 1:
		return fmt.Errorf("stride 0 with %d PEs: it is for one", size)
	case size > 1 && (stride >= n || stride <= -n || start+(size-1)*stride < 0 || start+(size-1)*stride >= n):
		return fmt.Errorf("%d PEs from %d on by %d leave the team's 0 to %d", size, start, stride, n-1)
	}
	return checkConfig(config, 1)
}

// Split2D lays out the PEs of t in rows of xrange: PE i is at x = i mod xrange, y =
// i / xrange. It returns the team of the caller's row, whose PEs are numbered by x,
// and that of its column, numbered by y. The last row may be short. An xrange of
// more than t.NPEs() counts as that. config may hold one TeamConfig for x and a second for y.
//
// Every PE of t calls it with the same arguments. The error is the same on
// all, and then both teams are nil: xrange is less than 1, t is nil, or there are too
// many teams. Split2D panics if t is destroyed, or on a mismatch. OpenSHMEM 1.6,
// 9.4.7 (shmem_team_split_2d).
func (t *Team) Split2D(xrange int, config ...TeamConfig) (x, y *Team, err error) {
	const op = "Split2D"
	if t == nil {
		return nil, nil, fmt.Errorf("shmem: %s: %w", op, errNoTeam)
	}
	t.check(op)
	call := collectives.Call{Kind: collectives.KindSplit2D, Elem: digest(config), N: uint64(xrange)}
	if err = checkConfig(config, 2); xrange < 1 {
		err = fmt.Errorf("rows of %d PEs: they have at least one", xrange)
	}
	if err != nil {
		t.sync(op, call)
		return nil, nil, fmt.Errorf("shmem: %s: %w", op, err)
	}
	n, me := t.group.NPEs(), t.group.Me()
	xrange = min(xrange, n)
	slots, err := t.claimSlots(op, call, []bool{true, true})
	if err != nil {
		return nil, nil, err
	}
	col, first := me%xrange, me-me%xrange
	row := t.members().Strided(first, 1, min(xrange, n-first))
	column := t.members().Strided(col, xrange, (n-col+xrange-1)/xrange)
	return t.pe.joinTeam(row, slots[0], config, 0), t.pe.joinTeam(column, slots[1], config, 1), nil
}

// SplitColor makes a team of all PEs of t that give the same color, ordered by key, and by
// their numbers in t where keys are equal. A PE with a negative color gets nil. Every PE
// reads all others' color and key.
//
// Every PE of t calls it. The error is the same on all: t is nil or there are too many
// teams. SplitColor panics if t is destroyed, or on a mismatch. Beyond OpenSHMEM 1.6, 9.4.
func (t *Team) SplitColor(color, key int) (*Team, error) {
	const op = "SplitColor"
	if t == nil {
		return nil, fmt.Errorf("shmem: %s: %w", op, errNoTeam)
	}
	t.check(op)
	call := collectives.Call{Kind: collectives.KindSplitColor}
	pairs, err := t.enter(op).Pairs(call, collectives.Pair{A: color, B: key})
	t.done(op, err)
	slots, err := t.claimSlots(op, call, []bool{color >= 0})
	if err != nil || color < 0 {
		return nil, err
	}
	var numbers []int // in t
	for i, p := range pairs {
		if p.A == color {
			numbers = append(numbers, i)
		}
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return cmp.Compare(pairs[a].B, pairs[b].B) })
	for i, q := range numbers {
		numbers[i] = t.group.Window().World(q)
	}
	return t.pe.joinTeam(symheap.Listed(numbers), slots[0], nil, 0), nil
}

// members returns t's PEs.
func (t *Team) members() symheap.Members { return t.group.Window().Members() }

// memberships says whether this PE is one of m, for claimSlots.
func (pe *PE) memberships(m symheap.Members) []bool { return []bool{m.Index(pe.me) >= 0} }

// joinTeam returns the team of m if this PE is a member. config[i] is its own, if there
// are so many.
func (pe *PE) joinTeam(m symheap.Members, slot int, config []TeamConfig, i int) *Team {
	if m.Index(pe.me) < 0 {
		return nil
	}
	var c TeamConfig
	if i < len(config) {
		c = config[i]
	}
	return pe.newTeam(m, slot, c)
}

// claimSlots returns a slot for each new team, the same on every PE of t, and keeps those
// of which this PE is a member. Another split by this PE may take a slot between the
// agreement and that: then all members try again.
func (t *Team) claimSlots(op string, call collectives.Call, member []bool) ([]int, error) {
	for {
		t.pe.mu.Lock()
		mask := t.pe.slots
		t.pe.mu.Unlock()
		mask, err := t.enter(op).AgreeMask(call, mask)
		t.done(op, err)
		if mathbits.OnesCount64(mask) < len(member) {
			return nil, fmt.Errorf("shmem: %s: there is no room for %d more teams, with %d at most on a PE: destroy some", op, len(member), slotCount-firstSlot)
		}
		slots, own := make([]int, len(member)), uint64(0)
		for i := range slots {
			slots[i] = mathbits.TrailingZeros64(mask)
			mask &= mask - 1
			if member[i] {
				own |= 1 << slots[i]
			}
		}
		took := t.pe.takeSlots(own)
		failed, err := t.enter(op).Agree(call, !took)
		t.done(op, err)
		if !failed {
			return slots, nil
		}
		if took {
			t.pe.giveSlots(own)
		}
	}
}

// takeSlots takes slots, and reports false if some are not free.
func (pe *PE) takeSlots(mask uint64) bool {
	pe.mu.Lock()
	defer pe.mu.Unlock()
	if pe.slots&mask != mask {
		return false
	}
	pe.slots &^= mask
	return true
}

func (pe *PE) giveSlots(mask uint64) {
	pe.mu.Lock()
	defer pe.mu.Unlock()
	pe.slots |= mask
}

// checkConfig returns what is wrong with the configurations of at most n teams.
func checkConfig(config []TeamConfig, n int) error {
	if len(config) > n {
		return fmt.Errorf("%d configurations for %d teams", len(config), n)
	}
	for _, c := range config {
		if c.Contexts < 0 {
			return fmt.Errorf("%d contexts: the number may not be negative", c.Contexts)
		}
	}
	return nil
}

// digest tells configurations apart in a mismatch.
func digest(config []TeamConfig) (d uint32) {
	for _, c := range config {
		d = d*31 + uint32(c.Contexts) + 1
	}
	return d
}
