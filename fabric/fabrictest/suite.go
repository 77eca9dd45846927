// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"slices"
	"testing"

	"github.com/goshmem/goshmem/fabric"
)

// A Factory opens the domains of a job of n PEs, PE i's at index i, with
// segments of segment bytes, a multiple of 64 KiB. The suite registers,
// connects and closes them. It drives all of them from goroutines of the test
// process.
type Factory func(t *testing.T, n int, segment uintptr) []fabric.Domain

// A row is a program that every PE of a small job runs.
type row struct {
	name    string
	n       int                           // PEs
	segment uintptr                       // bytes; 0: small
	needs   func(fabric.Domain) bool      // nil: every provider has it
	run     func(p *pe)                   // panics with a failure
	after   func(segments [][]byte) error // looks at what is left after Close; may be nil
}

const small = 64 << 10

// rows are run in this order.
var rows = slices.Concat(rmaRows, wordRows, atomicRows, orderRows, quietPERows, waitRows, waitAnyRows, lookRows, lifeRows, batchRows)

// Run runs every row that applies to the provider as a subtest, and fails if
// their names are not those of want, in the suite's order.
func Run(t *testing.T, open Factory, want []string) {
	t.Helper()
	probe := connect(t, open, 2, small)
	var names []string
	for _, r := range rows {
		if r.needs != nil && !r.needs(probe.domains[0]) {
			continue
		}
		names = append(names, r.name)
		t.Run(r.name, func(t *testing.T) {
			if err := r.check(t, open); err != nil {
				t.Error(err)
			}
		})
	}
	if err := probe.close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for _, name := range want {
		if !slices.Contains(names, name) {
			t.Errorf("row %q is pinned and did not run", name)
		}
	}
	for _, name := range names {
		if !slices.Contains(want, name) {
			t.Errorf("row %q ran and is not pinned", name)
		}
	}
	if !t.Failed() && !slices.Equal(names, want) {
		t.Errorf("the rows are pinned in another order than the suite's:\n%q", names)
	}
}

// Check runs the row with this name and returns what it found wrong, or nil.
func Check(t *testing.T, open Factory, name string) error {
	t.Helper()
	for _, r := range rows {
		if r.name == name {
			return r.check(t, open)
		}
	}
	t.Fatalf("no row is named %q", name)
	return nil
}

func (r row) check(t *testing.T, open Factory) error {
	t.Helper()
	size := r.segment
	if size == 0 {
		size = small
	}
	j := connect(t, open, r.n, size)
	if err := j.run(r.run); err != nil {
		return err // and leave the domains: someone may still use them
	}
	if err := j.close(); err != nil {
		return err
	}
	if r.after != nil {
		return r.after(j.segments)
	}
	return nil
}

// near: PE 0 of this provider reaches the segment of PE 1 by loads and stores.
func near(d fabric.Domain) bool { return d.Map(1) != nil }

// direct: it may also use them.
func direct(d fabric.Domain) bool { return near(d) && d.Caps().Direct }
