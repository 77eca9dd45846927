// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math/rand/v2"

	"github.com/goshmem/goshmem/shmem"
)

// A gather's table is dealt to the PEs word by word: word w is PE w mod NPEs's
// word w / NPEs.
type gather struct {
	pe     *shmem.PE
	words  []int32           // the numbers of the words to read
	values []uint64          // what was read
	table  shmem.Sym[uint64] // this PE's part

	// A window for each other PE: what it asks this one, and what it has answered.
	questions shmem.Sym[int32]
	asked     shmem.Sym[int64] // how many of each window's questions are new
	answers   shmem.Sym[uint64]
}

// newGather is collective.
func newGather(pe *shmem.PE, reads, words int) (*gather, error) {
	me, npes := pe.MyPE(), pe.NPEs()
	g := &gather{pe: pe, words: make([]int32, reads), values: make([]uint64, reads)}
	r := rand.New(rand.NewPCG(314159265, uint64(me)))
	for i := range g.words {
		g.words[i] = r.Int32N(int32(words))
	}
	var err error
	if g.table, err = shmem.Alloc[uint64](pe, (words+npes-1)/npes); err != nil {
		return nil, err
	}
	for i := range g.table.Local() {
		g.table.Local()[i] = content(i*npes + me)
	}
	if g.questions, err = shmem.Alloc[int32](pe, window*npes); err != nil {
		return nil, err
	}
	if g.asked, err = shmem.Alloc[int64](pe, npes); err != nil {
		return nil, err
	}
	g.answers, err = shmem.Alloc[uint64](pe, window*npes)
	return g, err
}

// content returns what word w of the table holds: never 0.
func content(w int) uint64 { return uint64(w)*0x9E3779B97F4A7C15 + 1 }

func (g *gather) clear() { clear(g.values) }

// atomics reads one word after the other.
func (g *gather) atomics() {
	npes := int32(g.pe.NPEs())
	for j, w := range g.words {
		g.values[j] = shmem.AtomicFetch(g.table.At(int(w/npes)), int(w%npes))
	}
}

// gets asks for all words and then waits for them. What the gets write must not
// be looked at before Quiet.
func (g *gather) gets() {
	npes := int32(g.pe.NPEs())
	for j, w := range g.words {
		i := int(w / npes)
		shmem.GetNBI(g.values[j:j+1], g.table.Slice(i, i+1), int(w%npes))
	}
	g.pe.Quiet()
}

// batched asks and answers by small puts, window by window. All PEs have as
// many reads, so all go the same number of rounds.
func (g *gather) batched() {
	ctx := g.pe.Context()
	ctx.StartSession(shmem.SessionConfig{Batch: true, TotalOps: 2 * len(g.words)})
	defer ctx.StopSession()
	for first := 0; first < len(g.words); first += window {
		end := min(first+window, len(g.words))
		g.ask(g.words[first:end])
		g.pe.BarrierAll() // all questions are there
		g.answer()
		g.pe.BarrierAll() // all answers are there, and nobody reads questions any more
		g.collect(g.words[first:end], g.values[first:end])
	}
}

// ask puts each word's place in the owner's window for this PE.
func (g *gather) ask(words []int32) {
	me, npes := g.pe.MyPE(), g.pe.NPEs()
	asked := make([]int64, npes)
	for _, w := range words {
		owner := int(w) % npes
		shmem.PutValue(g.questions.At(me*window+int(asked[owner])), w/int32(npes), owner)
		asked[owner]++
	}
	for owner, n := range asked {
		shmem.PutValue(g.asked.At(me), n, owner)
	}
}

// answer puts the words that each PE has asked for in its window for this one.
func (g *gather) answer() {
	me, table, questions := g.pe.MyPE(), g.table.Local(), g.questions.Local()
	for source, n := range g.asked.Local() {
		for k, i := range questions[source*window:][:n] {
			shmem.PutValue(g.answers.At(me*window+k), table[i], source)
		}
	}
}

// collect takes the answers, which each owner gave in the order of the questions.
func (g *gather) collect(words []int32, values []uint64) {
	npes, answers := g.pe.NPEs(), g.answers.Local()
	taken := make([]int, npes)
	for j, w := range words {
		owner := int(w) % npes
		values[j] = answers[owner*window+taken[owner]]
		taken[owner]++
	}
}

// check returns how many of the values are wrong.
func (g *gather) check() (wrong int) {
	for j, w := range g.words {
		if g.values[j] != content(int(w)) {
			wrong++
		}
	}
	return wrong
}
