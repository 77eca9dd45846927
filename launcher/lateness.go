// SPDX-License-Identifier: BSD-3-Clause

package launcher

import "time"

// A lateness is what a node reports of its neighbours' beats, as long as one is
// late and once when none is any more.
type lateness struct {
	Down bool // the node's own interface has no link
	Late []lateNode
}

// A lateNode is a node that has not been heard for some time.
type lateNode struct {
	Node int
	Age  time.Duration
}

// A vigil finds the node that is lost, by the last report of each.
type vigil struct {
	reports []lateness
}

func newVigil(nodes int) *vigil { return &vigil{reports: make([]lateness, nodes)} }

// lost returns a node that is lost, or nobody. Those on which nothing is left are
// missed by nobody, but still tell whom they miss.
//
// Once a node has not been heard for beatLost, the one to blame is one that sees
// that it has no link; else the one that most others miss, a node with few
// witnesses being a worse guess than one with many; else that which is farther
// from the first node, where the launcher is likely to be.
func (v *vigil) lost(busy func(node int) bool) int {
	due := false
	votes := make([]int, len(v.reports))
	for node, r := range v.reports {
		for _, l := range r.Late {
			blamed, vote := l.Node, 1
			if r.Down { // it misses others because of itself
				blamed, vote = node, len(v.reports)
			}
			if busy(blamed) {
				votes[blamed] += vote
				due = due || l.Age >= beatLost
			}
		}
	}
	if !due {
		return nobody
	}
	blamed := 0
	for node := range votes {
		if votes[node] >= votes[blamed] {
			blamed = node
		}
	}
	return blamed
}
