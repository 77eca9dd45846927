// SPDX-License-Identifier: BSD-3-Clause

package metamorphic

import "slices"

// A role is what PEs do with an object during a phase.
type role uint8

const (
	owned   role = iota // each PE has a part of it on every PE for itself
	read                // all read everything
	commute             // all change everything, by atomics of one class
)

// classes are atomics that commute with each other.
var classes = [...][]code{
	{add, inc, fetchAdd, fetchInc, fetchAddNBI, fetchIncNBI},
	{and, fetchAnd, fetchAndNBI},
	{or, fetchOr, fetchOrNBI},
	{xor, fetchXor, fetchXorNBI},
	{minimum, fetchMin},
	{maximum, fetchMax},
	{prod, fetchProd},
	{logicalAnd, fetchLogicalAnd},
	{logicalOr, fetchLogicalOr},
	{logicalXor, fetchLogicalXor},
}

var (
	writes      = []code{put, putNBI, putValue, putStrided, putBlocks, putV, store}
	reads       = []code{get, getNBI, getValue, getStrided, getBlocks, getV, load}
	remoteReads = []code{get, getNBI, getValue, getStrided, getBlocks, getV}
	swapCodes   = []code{set, fetch, swap, fetchNBI, swapNBI}
	floatCodes  = []code{
		set, add, minimum, maximum, logicalAnd, logicalOr, logicalXor, // products would not stay exact
		fetch, swap, fetchAdd, fetchMin, fetchMax, fetchLogicalAnd, fetchLogicalOr, fetchLogicalXor, swapIf,
		fetchNBI, swapNBI, fetchAddNBI,
	}
	integerCodes = []code{
		set, add, inc, and, or, xor, minimum, maximum, prod, logicalAnd, logicalOr, logicalXor,
		fetchMin, fetchMax, fetchProd, fetchLogicalAnd, fetchLogicalOr, fetchLogicalXor, maskedSwap, swapIf,
		fetch, swap, compareSwap, fetchAdd, fetchInc, fetchAnd, fetchOr, fetchXor,
		fetchNBI, swapNBI, compareSwapNBI, fetchAddNBI, fetchIncNBI, fetchAndNBI, fetchOrNBI, fetchXorNBI,
	}
)

// accessPhase: puts, gets and atomics.
func (g *generator) accessPhase() {
	ph := phase{name: "access", ops: make([][]op, g.p.np)}
	roles, class := make([]role, len(g.live)), make([][]code, len(g.live))
	for i, x := range g.live {
		roles[i], class[i] = role(g.IntN(3)), classes[g.IntN(len(classes))]
		if roles[i] == commute && kinds[x.kind].atomics != allAtomics {
			roles[i] = owned
		}
		if roles[i] != read {
			ph.touched = append(ph.touched, x.id)
		}
	}
	for me := range g.p.np {
		h := &hazards{g: g}
		for range 3 + g.IntN(12) {
			i := g.IntN(len(g.live))
			x := g.live[i]
			switch roles[i] {
			case owned:
				g.ownedOp(h, x, me)
			case read:
				g.readOp(h, x)
			case commute:
				g.commutingOp(h, x, class[i])
			}
		}
		ph.ops[me] = h.ops
	}
	g.p.phases = append(g.p.phases, ph)
}

func pick[T any](g *generator, s []T) T { return s[g.IntN(len(s))] }

func (g *generator) ownedOp(h *hazards, x spec, me int) {
	lo, hi := share(x, me, g.p.np)
	codes := [][]code{writes, writes, reads}
	switch kinds[x.kind].atomics {
	case swapAtomics:
		codes = append(codes, swapCodes)
	case floatAtomics:
		codes = append(codes, floatCodes, floatCodes)
	case allAtomics:
		codes = append(codes, integerCodes, integerCodes)
	}
	o := op{code: pick(g, pick(g, codes)), object: x.id, target: g.IntN(g.p.np), value: g.Uint64()}
	if g.IntN(3) == 0 {
		o.value %= 4 // for compare-and-swap to find
	}
	if o.code == store || o.code == load {
		o.target = me
	}
	if g.shape(&o, lo, hi) {
		h.issue(o)
	}
}

func (g *generator) readOp(h *hazards, x spec) {
	o := op{code: pick(g, remoteReads), object: x.id, target: g.IntN(g.p.np)}
	if g.shape(&o, 0, x.n) {
		h.issue(o)
	}
}

func (g *generator) commutingOp(h *hazards, x spec, class []code) {
	o := op{code: pick(g, class), object: x.id, target: g.IntN(g.p.np), value: g.Uint64(), noResult: true}
	if g.shape(&o, 0, x.n) {
		h.ops = append(h.ops, o) // in whatever order
	}
}

// shape chooses the elements of o within lo to hi-1. It reports false if there
// are none to choose and the code wants some.
func (g *generator) shape(o *op, lo, hi int) bool {
	n := hi - lo
	switch o.code {
	case put, putNBI, get, getNBI, store, load:
		*o = o.contiguous(g.IntN(n + 1))
	case putStrided, getStrided:
		o.size, o.remote, o.local = 1, 1+g.IntN(4), 1+g.IntN(4)
		o.blocks = g.IntN((n+o.remote-1)/o.remote + 1)
	case putBlocks, getBlocks, putV, getV:
		o.size = 1 + g.IntN(3)
		o.remote, o.local = o.size+g.IntN(3), o.size+g.IntN(3)
		o.blocks = g.IntN((n+o.remote-o.size)/o.remote + 1)
	default:
		*o = o.contiguous(1)
		if n == 0 {
			return false
		}
	}
	o.at = lo + g.IntN(n-span(o.size, o.blocks, o.remote)+1)
	return true
}

// hazards are the operations of one PE that are under way. They decide where a fence
// or a quiet has to be.
type hazards struct {
	g    *generator
	ops  []op
	open []access
}

// An access is an operation that may not be complete.
type access struct {
	op
	fenced bool
}

// issue appends o, behind the fence or quiet that it needs.
func (h *hazards) issue(o op) {
	needs := numCodes // nothing
	if h.g.IntN(12) == 0 {
		needs = pick(h.g, []code{fence, quiet})
	}
	for _, a := range h.open {
		if a.object != o.object || a.target != o.target || a.end() <= o.at || o.end() <= a.at {
			continue
		}
		if need := after(&a, &o); need == quiet || need == fence && needs != quiet {
			needs = need
		}
	}
	switch needs {
	case quiet:
		h.ops, h.open = append(h.ops, op{code: quiet}), h.open[:0]
	case fence:
		h.ops = append(h.ops, op{code: fence})
		for i := range h.open {
			h.open[i].fenced = true
		}
	}
	h.ops = append(h.ops, o)
	if o.code.staysOpen() {
		h.open = append(h.open, access{op: o})
	}
}

// staysOpen reports whether the operation may not be complete when it returns.
func (c code) staysOpen() bool {
	return c <= store || c == getNBI || c >= set && c < fetch || c >= fetchNBI && c <= fetchXorNBI
}

// after returns what has to lie between a and o on the same elements: a fence, a
// quiet, or nothing.
func after(a *access, o *op) code {
	aWrites, oWrites := a.code <= store, o.code <= store
	switch {
	case a.code == getNBI && (o.code == getNBI || slices.Contains(remoteReads, o.code) || o.code == load):
		return numCodes
	case o.code == load || o.code == store,
		slices.Contains(remoteReads, o.code), // a fence does not order gets
		a.code == getNBI,
		aWrites != oWrites: // puts and atomics mix only when complete
		return quiet
	case a.fenced:
		return numCodes
	}
	return fence
}
