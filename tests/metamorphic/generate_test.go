// SPDX-License-Identifier: BSD-3-Clause

package metamorphic

import (
	"math/rand/v2"
	"slices"
)

// A spec is an object as the generator knows it.
type spec struct {
	id   int
	kind int
	n    int // elements
}

// A generator makes a program from a seed: always the same one, on every PE.
type generator struct {
	*rand.Rand
	p       *program
	live    []spec
	next    int        // id of the next object
	words   [][]uint64 // values of the signal words, by PE
	signals int        // value that the next signal is set to; they only grow
}

// signalObject is the object of the signals: for each source a word that is
// added to and one that is set.
const signalObject = 0

// generate returns the program of a seed.
func generate(seed uint64, np int) *program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 17)), p: &program{np: np}, next: 1, signals: 2}
	for range np {
		g.words = append(g.words, make([]uint64, 2*np))
	}
	first := phase{name: "first objects", collective: true, touched: []int{signalObject}}
	ops := []op{{code: alloc, object: signalObject, count: 2 * np}}
	for range 2 + g.IntN(3) {
		// In pairs, since collectives want two objects of one type.
		kind := g.IntN(len(kinds))
		ops = append(ops, g.alloc(kind), g.alloc(kind))
	}
	first.ops = [][]op{ops}
	for _, x := range g.live {
		first.touched = append(first.touched, x.id)
	}
	g.p.phases = append(g.p.phases, first)
	for range 5 + g.IntN(4) {
		switch g.IntN(6) {
		case 0:
			g.heapPhase()
		case 1:
			g.signalPhase()
		case 2:
			g.collectivePhase()
		default:
			g.accessPhase()
		}
	}
	return g.p
}

func (g *generator) alloc(kind int) op {
	n := g.length()
	g.live = append(g.live, spec{g.next, kind, n})
	g.next++
	return op{
		code: []code{alloc, allocAligned, allocHint}[g.IntN(3)], object: g.next - 1,
		kind: kind, count: n, value: g.Uint64(),
	}
}

// length returns a number of elements: few, some or many.
func (g *generator) length() int {
	switch g.IntN(12) {
	case 0:
		return 0
	case 1:
		return 1000 + g.IntN(2000)
	case 2, 3, 4:
		return 17 + g.IntN(300)
	}
	return 1 + g.IntN(16)
}

func (g *generator) heapPhase() {
	ph := phase{name: "heap", collective: true}
	var ops []op
	for range 1 + g.IntN(4) {
		i := g.IntN(len(g.live) + 1)
		switch {
		case i == len(g.live) || len(g.live) < 4:
			ops = append(ops, g.alloc(g.IntN(len(kinds))))
		case g.IntN(2) == 0 && len(g.live) > 4:
			ops = append(ops, op{code: free, object: g.live[i].id})
			g.live = slices.Delete(g.live, i, i+1)
			continue
		default:
			g.live[i].n = g.length()
			ops = append(ops, op{code: realloc, object: g.live[i].id, count: g.live[i].n})
		}
		ph.touched = append(ph.touched, ops[len(ops)-1].object)
	}
	ph.ops = [][]op{ops}
	g.p.phases = append(g.p.phases, ph)
}

func (g *generator) collectivePhase() {
	ph := phase{name: "collectives", collective: true}
	var ops []op
	var used []int // objects that somebody may still be busy with
	for range 1 + g.IntN(6) {
		dst, src := g.live[g.IntN(len(g.live))], g.live[g.IntN(len(g.live))]
		o := op{
			code: []code{broadcast, fcollect, allToAll, sumReduce}[g.IntN(4)], object: dst.id, source: src.id,
			root: g.IntN(g.p.np),
		}
		inPlace := dst.id == src.id
		if dst.kind != src.kind || inPlace && o.code != sumReduce || o.code == sumReduce && !kinds[dst.kind].sums {
			continue
		}
		to, from := 1, 1 // blocks at the two sides
		switch o.code {
		case fcollect:
			to = g.p.np
		case allToAll:
			to, from = g.p.np, g.p.np
		}
		o.count = g.IntN(min(dst.n/to, src.n/from) + 1)
		o.at, o.from = g.IntN(dst.n-o.count*to+1), g.IntN(src.n-o.count*from+1)
		if inPlace {
			o.from = o.at
		}
		if slices.Contains(used, dst.id) { // all have to be done with it
			ops = append(ops, op{code: []code{syncAll, barrierAll}[g.IntN(2)]})
			used = used[:0]
		}
		used = append(used, dst.id, src.id)
		ops = append(ops, o)
		ph.touched = append(ph.touched, dst.id)
	}
	ph.ops = [][]op{ops}
	g.p.phases = append(g.p.phases, ph)
}

// share returns the part of an object that is PE me's to write, on every PE.
func share(x spec, me, np int) (lo, hi int) { return x.n * me / np, x.n * (me + 1) / np }

// signalPhase: each PE sends some others data and a signal, and then waits for
// what the others have sent it.
func (g *generator) signalPhase() {
	np := g.p.np
	ph := phase{name: "signals", ops: make([][]op, np), touched: []int{signalObject}}
	receive := make([][]op, np)
	for me := range np {
		for target := range np {
			if g.IntN(3) > 0 {
				g.send(&ph, me, target, receive)
			}
		}
	}
	for me := range np {
		ph.ops[me] = append(ph.ops[me], receive[me]...)
	}
	g.p.phases = append(g.p.phases, ph)
}

// send has PE me send a few messages to target, with disjoint data.
func (g *generator) send(ph *phase, me, target int, receive [][]op) {
	x := g.live[g.IntN(len(g.live))]
	lo, hi := share(x, me, g.p.np)
	ph.touched = append(ph.touched, x.id)
	messages := 1
	word := g.p.np + me // set
	if g.IntN(2) == 0 {
		messages, word = 1+g.IntN(3), me // added to
	}
	var loads []op
	for range messages {
		n := g.IntN(hi - lo + 1)
		data := op{code: putSignal, object: x.id, target: target, at: lo, value: 1, signal: signalObject, word: word}.contiguous(n)
		data.code = []code{putSignal, putSignalNBI, put, putNBI}[g.IntN(4)]
		signal := op{code: signalAdd, target: target, value: 1, signal: signalObject, word: word}
		if word >= g.p.np {
			g.signals++
			data.value, signal.code, signal.value = uint64(g.signals), signalSet, uint64(g.signals)
		}
		ph.ops[me] = append(ph.ops[me], data)
		if data.code == put || data.code == putNBI {
			ph.ops[me] = append(ph.ops[me], op{code: fence}, signal)
		}
		if signal.code == signalAdd {
			g.words[target][word]++
		} else {
			g.words[target][word] = signal.value
		}
		loads = append(loads, op{code: load, object: x.id, target: target, at: lo}.contiguous(n))
		lo += n
	}
	wait := op{
		code: []code{awaitSignal, awaitWord, poll}[g.IntN(3)], target: target,
		value: g.words[target][word], signal: signalObject, word: word,
	}
	receive[target] = append(receive[target], wait)
	receive[target] = append(receive[target], loads...)
}
