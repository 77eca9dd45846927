// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"testing"
)

func TestStreamAt_IsManySteps(t *testing.T) {
	v := uint64(1)
	for n := range uint64(1000) {
		if got := streamAt(n); got != v {
			t.Fatalf("streamAt(%d) is %#x, want %#x", n, got, v)
		}
		v = step(v)
	}
}

func TestStreamAt_FarAway(t *testing.T) {
	// The published period of the stream.
	const period = 1317624576693539401
	if got := streamAt(period); got != 1 {
		t.Errorf("after a period the stream is at %#x, want 1", got)
	}
	for _, n := range []uint64{1 << 20, 1<<40 + 12345, period - 1} {
		if got, want := streamAt(n+1), step(streamAt(n)); got != want {
			t.Errorf("streamAt(%d) is %#x, want one step after %d: %#x", n+1, got, n, want)
		}
	}
}

func TestTable_EveryWordHasOnePlace(t *testing.T) {
	for _, logWords := range []uint{0, 1, 3, 10} {
		for npes := 1; npes <= 9; npes++ {
			table := newTable(logWords, npes)
			next := make([]int, npes) // the next word of each PE
			for word := range uint64(1) << logWords {
				owner, i := table.place(word)
				if i != next[owner] || i >= table.room() {
					t.Fatalf("2^%d words on %d PEs: word %d is PE %d's word %d, want %d and less than %d",
						logWords, npes, word, owner, i, next[owner], table.room())
				}
				next[owner]++
			}
			for p := range npes {
				if next[p] != table.owned(p) {
					t.Errorf("2^%d words on %d PEs: PE %d has %d words, want %d",
						logWords, npes, p, next[p], table.owned(p))
				}
			}
		}
	}
}

func TestTable_CheckFindsALostUpdate(t *testing.T) {
	const logWords, npes, updates = 6, 3, 4 << 6
	for lost := range uint64(updates) {
		table := newTable(logWords, npes)
		words := make([][]uint64, npes)
		for p := range words {
			words[p] = make([]uint64, table.owned(p))
			table.fill(words[p], p)
		}
		v, hit := uint64(1), 0
		for n := range uint64(updates) {
			v = step(v)
			owner, i := table.place(v)
			if n == lost {
				hit = owner
				continue
			}
			words[owner][i] ^= v
		}
		for p := range words {
			want := 0
			if p == hit {
				want = 1
			}
			if got := table.check(words[p], p, updates); got != want {
				t.Fatalf("update %d was lost: PE %d finds %d wrong words, want %d", lost, p, got, want)
			}
		}
	}
}
