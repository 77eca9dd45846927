// SPDX-License-Identifier: BSD-3-Clause

package loop

import "time"

// Endpoints deliver in lanes of time: instants that are the same modulo the
// number of lanes belong to one lane. As far as each endpoint of the world has
// a lane of its own, no two of them deliver at the same instant.
const lanesPerPE = 8

// schedule chooses when o is due: a delay that seed, source, endpoint, target
// and issue number decide, after now and after all that o is ordered behind, at
// an instant of the endpoint's lane that no other operation in flight has. The
// caller has mu.
//
// A generator that all goroutines share would not do: who draws first would
// depend on the Go scheduler.
//
//go:norace
func (e *endpoint) schedule(o *operation, piece int) {
	if e.w.o.MaxDelay == 0 {
		return
	}
	start := time.Since(e.w.began)
	if o.fenced != nil {
		start = max(start, o.fenced.latest)
	}
	if o.after != nil {
		start = max(start, o.after.latest)
	}
	h := e.w.o.Seed
	h = mix(h ^ uint64(e.d.me)<<32 ^ uint64(e.number))
	h = mix(h ^ uint64(o.target)<<32 ^ uint64(piece))
	h = mix(h ^ o.issue)
	lanes := time.Duration(lanesPerPE * len(e.w.segments))
	lane := time.Duration(e.d.me*lanesPerPE + e.number%lanesPerPE)
	for span := uint64(e.w.o.MaxDelay); ; span += span / 4 {
		at := start + 1 + time.Duration(h%span)
		at += ((lane-at)%lanes + lanes) % lanes
		if e.flying.add(at) {
			o.at = at
			break
		}
		h = mix(h)
	}
	for i := range o.joined {
		if g := o.joined[i]; g != nil {
			g.latest = max(g.latest, o.at)
		}
	}
}

// mix is the finalizer of SplitMix64 (Steele, Lea & Flood 2014).
//
//go:norace
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// instants is a set of instants other than 0: a hash table with linear probing.
// Go's maps report their accesses to the race detector, wherever they are used.
type instants struct {
	slots []time.Duration // a power of two of them, at most half in use; 0: free
	used  int
}

// find returns the slot that holds at, or the free one where it belongs.
//
//go:norace
func (s *instants) find(at time.Duration) int {
	i := s.home(at)
	for s.slots[i] != 0 && s.slots[i] != at {
		i = (i + 1) & (len(s.slots) - 1)
	}
	return i
}

//go:norace
func (s *instants) home(at time.Duration) int { return int(mix(uint64(at))) & (len(s.slots) - 1) }

// add adds at and reports whether it was new.
//
//go:norace
func (s *instants) add(at time.Duration) bool {
	if 2*s.used >= len(s.slots) {
		old := s.slots
		s.slots = make([]time.Duration, max(16, 2*len(old)))
		for i := range old {
			if old[i] != 0 {
				s.slots[s.find(old[i])] = old[i]
			}
		}
	}
	i := s.find(at)
	if s.slots[i] == at {
		return false
	}
	s.slots[i] = at
	s.used++
	return true
}

// remove removes at, which is in the set.
//
//go:norace
func (s *instants) remove(at time.Duration) {
	mask := len(s.slots) - 1
	hole := s.find(at)
	// Move up what could no longer be found behind the hole.
	for i := (hole + 1) & mask; s.slots[i] != 0; i = (i + 1) & mask {
		if (i-s.home(s.slots[i]))&mask >= (i-hole)&mask {
			s.slots[hole] = s.slots[i]
			hole = i
		}
	}
	s.slots[hole] = 0
	s.used--
}
