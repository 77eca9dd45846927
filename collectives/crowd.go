// SPDX-License-Identifier: BSD-3-Clause

package collectives

import "github.com/goshmem/goshmem/internal/spin"

// Where PEs outnumber cores, a member that waits either must give its core up, because the one it waits
// for needs it, or loses a switch to another that waits and one back, while the one it waits for
// runs elsewhere. So each member tells on which core it has entered a call. Who
// waits gives way only while one that it waits for was last seen on its own core, and has not yet
// entered; otherwise it spins for what some switches take. That makes 1.1 switches a core of a barrier of two PEs a
// core, in place of 1.6.
//
// A member may have been moved since, or the core be wanted by others: so who has spun in vain gives way, too.
const (
	patience = 400 // looks with a pause between, some 40 ns each
	turns    = 16  // until a wait goes on as any other does
)

// enterCore tells on which core the member enters an epoch. A storeRelease to the same line follows.
func (g *Group) enterCore() {
	if g.cores {
		storeSecond(g.w.Own(g.off+offEntered), uint64(spin.Core()))
	}
}

// late reports whether one of n members from the first on was last seen on this one's core, and has not entered
// this epoch.
func (g *Group) late(first, n int) bool {
	core := uint64(spin.Core())
	for q := first; q < first+n; q++ {
		p := g.w.Data(q, g.off+offEntered, live)
		if loadRelaxed(p, 8) == core && loadRelaxed(p, 0)>>startedBits < g.epoch {
			return true
		}
	}
	return false
}

// takeTurns waits for this epoch at p, where it is after n members from the first on have entered it, and
// reports whether it came soon.
func (g *Group) takeTurns(p pointer, first, n int) (came bool, err error) {
	for range turns {
		if !g.late(first, n) && spinUntil(p, g.epoch, patience) {
			return true, nil
		}
		if err := g.w.Endpoint().Progress(); err != nil {
			return false, err
		}
		if spinUntil(p, g.epoch, 0) {
			return true, nil
		}
	}
	return false, nil
}
