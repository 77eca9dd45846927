// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/frames"
)

// A collective that is started, and waited for later, runs on a group of its own: one
// with the same members and other words. The group where the members meet meanwhile
// counts the starts, so that a member that has not made one is found out.

// startedBits is the size of the count in offEntered.
const startedBits = 16

// Start counts a collective that this member starts on another group. All members
// start as many between the same two calls: the number is part of every call.
func (g *Group) Start() {
	g.started++
	for _, part := range [...]*Group{g.node, g.lead} {
		if part != nil {
			part.started++
		}
	}
}

// CalledAt says where the program asked for the collectives that follow, for those that are
// called by another goroutine, some time later. Without frames it is where they are called.
func (g *Group) CalledAt(at [frames.Depth]uintptr) { g.at = at }

// Overtaken reports whether some member waits for this one in a call that it cannot
// come to: one after this member's last, with fewer starts before it than this member has made.
func (g *Group) Overtaken() (bool, error) {
	for i := 1; i < g.n; i++ {
		q := (g.me + i) % g.n
		v, err := g.w.Endpoint().FetchAtomic(g.world(q), fabric.OpRead, fabric.Uint64, g.off+offEntered, 0, 0)
		if err != nil {
			return false, err
		}
		if v>>startedBits > g.epoch && int16(uint16(v)-g.started) < 0 {
			return true, nil
		}
	}
	return false, nil
}
