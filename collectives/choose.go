// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// An operation is what there are several algorithms for.
type operation uint8

const (
	opSync operation = iota
	opReduce
	opScan
	opBroadcast
	opFCollect
	opCollect
	opAllToAll
	operations
)

// An algorithm is a way to do an operation. The functions of these names say what each
// costs, and so does docs/collectives.md.
type algorithm uint8

const (
	byTable       algorithm = iota
	flat                    // each tells each
	central                 // one counter, one epoch
	dissemination           // in rounds, each tells one
	star                    // each tells member 0, which tells each
	carried                 // with the synchronisation
	shares                  // each member works on one n-th part
	doubling                // recursive doubling
	halving                 // recursive halving, and back
	shown                   // the others pull
	tree                    // binomial
	relay                   // binomial, and nobody waits for those below
	push                    // each stores its block to all
	pair                    // of two members
	flags                   // every block with its flag
	leaders                 // within nodes by loads and stores, between them the first PE of each
)

func (o operation) String() string {
	return [operations]string{"sync", "reduce", "scan", "broadcast", "fcollect", "collect", "alltoall"}[o]
}

func (a algorithm) String() string {
	return [...]string{
		"", "flat", "central", "dissemination", "star", "carried", "shares", "doubling", "halving",
		"shown", "tree", "relay", "push", "pair", "flags", "leaders",
	}[a]
}

// A rule says where an algorithm can serve an operation, and where it is to.
type rule struct {
	op    operation
	how   algorithm
	team  reach
	pes   span // members that it can serve
	bytes span // of a member, that it can serve
	best  span // members for which it is taken, unless another is asked for
	full  full // on which nodes it is
}

// A span is a range of numbers, both ends included.
type span [2]int

func (s span) holds(n int) bool { return s[0] <= n && n <= s[1] }

// reach says whether loads and stores reach all members.
type reach uint8

const (
	anywhere reach = iota
	near
	far
	shared // far, and some members share a node
)

// full says whether PEs of some node outnumber its cores.
type full uint8

const (
	onAll full = iota
	onCrowded
	onSpacious
)

// rules returns the table of algorithms. Of those that can serve a call, the first one whose
// last two columns fit is taken, or the one that is asked for.
func rules() []rule {
	const inf = math.MaxInt
	all, some, any := span{1, inf}, span{1, mostFar}, span{0, inf}
	many := span{mostStar + 1, inf} // fewer are served by all faster than they climb a tree
	return []rule{
		{opSync, flat, near, all, any, span{1, 8}, onSpacious},
		{opSync, central, near, all, any, all, onAll},
		{opSync, leaders, shared, all, any, all, onAll},
		{opSync, star, far, span{1, mostStar}, any, span{3, mostStar}, onCrowded},
		{opSync, dissemination, far, all, any, all, onAll},

		{opReduce, carried, near, all, span{0, mostCarry}, all, onAll},
		{opReduce, leaders, shared, all, any, all, onAll},
		{opReduce, doubling, far, all, some, all, onAll},
		{opReduce, tree, far, all, span{1, block}, many, onAll},
		{opReduce, halving, far, all, span{block + 1, inf}, all, onAll},
		{opReduce, halving, far, all, span{1, block}, span{}, onAll}, // if asked for
		{opReduce, shares, anywhere, all, any, all, onAll},

		{opScan, carried, near, all, span{0, mostCarry}, all, onAll},
		{opScan, tree, far, all, span{1, block}, many, onAll},
		{opScan, shares, anywhere, all, any, all, onAll},

		{opBroadcast, carried, near, all, span{0, mostCarry}, all, onAll},
		{opBroadcast, shown, near, all, any, all, onAll},
		{opBroadcast, leaders, shared, all, any, all, onAll},
		{opBroadcast, relay, far, all, span{0, mostFar}, all, onAll},
		{opBroadcast, tree, far, all, any, all, onAll},

		{opFCollect, carried, near, all, span{1, mostCarry}, all, onAll},
		{opFCollect, leaders, shared, all, all, all, onAll},
		{opFCollect, pair, far, span{2, 2}, some, all, onAll},
		{opFCollect, dissemination, far, all, all, all, onAll},
		{opFCollect, push, anywhere, all, any, all, onAll},

		{opCollect, dissemination, far, all, any, many, onAll},
		{opCollect, push, anywhere, all, any, all, onAll},

		{opAllToAll, carried, near, all, span{1, mostCarry}, all, onAll},
		{opAllToAll, flags, far, span{1, mostFlags}, all, all, onAll},
		{opAllToAll, push, anywhere, all, any, all, onAll},
	}
}

// serves reports whether r's algorithm can serve a group.
func (r rule) serves(g *Group) bool {
	fits := [...]bool{anywhere: true, near: !g.isFar, far: g.isFar, shared: g.node != nil}
	return fits[r.team] && r.pes.holds(g.n)
}

// Choices are the algorithms asked for in place of the table's. The zero value asks for none.
type Choices [operations]algorithm

// ParseChoices reads choices such as "reduce=shares,alltoall=push". Each is taken where it can
// serve, and the table's elsewhere. The error names what there is.
func ParseChoices(s string) (Choices, error) {
	var c Choices
	if s == "" {
		return c, nil
	}
	for word := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(word, "=")
		var known []string // algorithms of the operation
		for _, r := range rules() {
			if r.op.String() != name {
				continue
			}
			if !slices.Contains(known, r.how.String()) {
				known = append(known, r.how.String())
			}
			if r.how.String() == value {
				c[r.op] = r.how
			}
		}
		switch {
		case len(known) == 0:
			var ops []string
			for o := range operations {
				ops = append(ops, o.String())
			}
			return Choices{}, fmt.Errorf("%.64q: want operation=algorithm, with commas between; the operations are %s", word, strings.Join(ops, ", "))
		case !slices.Contains(known, value):
			return Choices{}, fmt.Errorf("%.64q: algorithms of %s are %s", word, name, strings.Join(known, ", "))
		}
	}
	return c, nil
}

// Word returns the choices as one number, for PEs to compare.
func (c Choices) Word() uint64 {
	var w uint64
	for _, a := range c {
		w = w<<8 | uint64(a)
	}
	return w
}

// A limit is the end of a range of sizes, and the algorithm for them.
type limit struct {
	bytes int // of a member; up to this many
	how   algorithm
}

// mostLimits is how many ranges of sizes an operation has.
const mostLimits = 4

// Choose sets the group's algorithms: those asked for where they can serve, and the
// table's elsewhere. All members choose alike, between the same two calls.
func (g *Group) Choose(asked Choices) {
	table := rules()
	for o := range operations {
		from := 0
		for i := range g.limits[o] {
			g.limits[o][i] = g.pick(table, o, asked[o], from)
			if from = g.limits[o][i].bytes; from == math.MaxInt {
				break
			}
			from++
		}
	}
	g.how = g.choose(opSync, 0)
}

// pick returns the algorithm for calls from so many bytes on, and up to how many.
func (g *Group) pick(table []rule, o operation, asked algorithm, from int) limit {
	l := limit{bytes: math.MaxInt}
	for _, r := range table {
		if r.op != o || !r.serves(g) {
			continue
		}
		for _, end := range [...]int{r.bytes[0] - 1, r.bytes[1]} {
			if end >= from {
				l.bytes = min(l.bytes, end)
			}
		}
		if !r.bytes.holds(from) {
			continue
		}
		if r.how == asked {
			l.how = asked
		}
		best := r.best.holds(g.n) && (r.full == onAll || r.full == onCrowded == g.crowded)
		if l.how == byTable && best {
			l.how = r.how
		}
	}
	return l
}

// choose returns the algorithm for a call of so many bytes a member.
func (g *Group) choose(o operation, bytes int) algorithm {
	limits := &g.limits[o]
	i := 0
	for bytes > limits[i].bytes {
		i++
	}
	return limits[i].how
}
