// SPDX-License-Identifier: BSD-3-Clause

package main

// A table says which PE owns which of its 2^logWords words: they are dealt in
// contiguous blocks, as even as any number of PEs allows, so that a power of
// two has the owner in the leading bits of a word's number.
type table struct {
	logWords uint
	first    []uint64 // first[p] is the number of PE p's first word; one more entry ends the table
}

func newTable(logWords uint, npes int) *table {
	t := &table{logWords: logWords, first: make([]uint64, npes+1)}
	for p := range t.first {
		t.first[p] = (uint64(p)<<logWords + uint64(npes) - 1) / uint64(npes)
	}
	return t
}

func (t *table) npes() int { return len(t.first) - 1 }

// room returns the most words that a PE owns.
func (t *table) room() int {
	n := uint64(t.npes())
	return int((1<<t.logWords + n - 1) / n)
}

// owned returns the number of words of PE p.
func (t *table) owned(p int) int { return int(t.first[p+1] - t.first[p]) }

// place returns where the update with v goes: which PE's word of which number.
// A multiplication finds the PE; a division would take longer than the update.
func (t *table) place(v uint64) (owner, i int) {
	word := v & (1<<t.logWords - 1)
	owner = int(word * uint64(t.npes()) >> t.logWords)
	return owner, int(word - t.first[owner])
}

// fill sets the words that PE p owns to their numbers.
func (t *table) fill(words []uint64, p int) {
	for i := range words {
		words[i] = t.first[p] + uint64(i)
	}
}

// check repeats all updates, of every PE, on the words that PE p owns and
// returns how many of them are not what fill had made them: an exclusive or that
// is done twice is undone. It uses no communication, so a fault there can't
// hide itself.
func (t *table) check(words []uint64, p int, updates uint64) (wrong int) {
	v := streamAt(0)
	for range updates {
		v = step(v)
		if owner, i := t.place(v); owner == p {
			words[i] ^= v
		}
	}
	for i, w := range words {
		if w != t.first[p]+uint64(i) {
			wrong++
		}
	}
	return wrong
}
