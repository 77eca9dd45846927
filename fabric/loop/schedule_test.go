// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestInstants_IsASet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s instants
	model := make(map[time.Duration]bool)
	for i := range 20_000 {
		at := time.Duration(1 + r.IntN(600))
		switch {
		case model[at] && r.IntN(2) == 0:
			s.remove(at)
			delete(model, at)
		default:
			if added := s.add(at); added == model[at] {
				t.Fatalf("step %d: adding %d says %v, it was there: %v", i, at, added, model[at])
			}
			model[at] = true
		}
		if s.used != len(model) {
			t.Fatalf("step %d: %d instants, want %d", i, s.used, len(model))
		}
	}
	for at := time.Duration(1); at <= 600; at++ {
		if found := s.slots[s.find(at)] == at; found != model[at] {
			t.Errorf("instant %d is found: %v, want %v", at, found, model[at])
		}
	}
}

// No two deliveries of a world at one instant, whoever issues them and however
// many there are, and none before those that it is fenced behind.
func TestSchedule_InstantsAreDistinctAndOrdered(t *testing.T) {
	const n, endpoints, ops = 3, 4, 500
	w, err := New(n, Options{SegmentSize: 4096, Seed: 9, MaxDelay: 50 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	taken := make(map[time.Duration]bool)
	for pe := range n {
		d := &domain{w: w, me: pe, own: w.segments[pe]}
		for number := range endpoints {
			e := newEndpoint(d, number)
			var fenced, latest time.Duration
			for i := range ops {
				o := &operation{kind: Put, target: 1, issue: e.nextIssue()}
				e.enter(o)
				if taken[o.at] {
					t.Fatalf("PE %d, endpoint %d, operation %d: a second delivery at %v", pe, number, i, o.at)
				}
				taken[o.at] = true
				if o.at <= fenced {
					t.Fatalf("PE %d, endpoint %d, operation %d: due at %v, one before its fence at %v", pe, number, i, o.at, fenced)
				}
				latest = max(latest, o.at)
				if i == ops/2 {
					e.fence()
					fenced = latest
				}
			}
		}
	}
}
