// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/internal/spin"
)

// PEs that share cores and wait for each other by yielding may lie unevenly: four on two cores
// as often as not begin with three on one, and take twice the time for everything. The
// system takes a second or more to see it, for none of its cores is ever idle, and each PE
// has run a moment ago. So now and then who gives way looks where the others are, and moves if that
// evens things out. Nobody is bound: the system may move it again.
type place struct {
	turns atomic.Uint32 // times that this PE has given way
	look  atomic.Uint32 // when to look next, in turns
	moves atomic.Uint32
}

// A look costs a line of each PE of the node. After a move the next one comes later and later:
// there may be a reason, in other programs, for how the system places PEs.
const (
	firstLook = 64
	mostMoves = 6 // that make it later
)

// giveWay lets other processes run. Where PEs outnumber cores, it now and then moves this one
// to an emptier core.
func (d *Domain) giveWay() {
	schedYield()
	if !d.policy.crowded {
		return
	}
	if core := spin.Core(); d.status.Core.Load() != core {
		d.status.Core.Store(core)
	}
	turn, look := d.place.turns.Add(1), d.place.look.Load()
	if int32(turn-look) < 0 {
		return
	}
	if !d.place.look.CompareAndSwap(look, turn+firstLook<<min(d.place.moves.Load(), mostMoves)) {
		return
	}
	if d.overfull() {
		d.move()
	}
}

// overfull reports whether more than this PE's share of those awake were last seen on its core,
// and it is the first of them: one moves at a time.
func (d *Domain) overfull() bool {
	own := d.status.Core.Load()
	here, awake := 0, 0
	for i := range d.layout.PEs {
		core := d.coreOf(i)
		if core == own && here == 0 && i != d.me {
			return false
		}
		if core == own {
			here++
		}
		if core != 0 {
			awake++
		}
	}
	return here > (awake+d.layout.Cores-1)/d.layout.Cores
}

// coreOf returns the core that the node's i-th PE was last seen on, or 0 if it sleeps or has never been
// seen.
func (d *Domain) coreOf(i int) uint32 {
	if st := d.ctl.Status(i); st.Sleeping.Load() == segment.Awake {
		return st.Core.Load()
	}
	return 0
}

// emptier returns the one of the cores with the fewest PEs, if that has at least two fewer than this
// PE's.
func (d *Domain) emptier(cores *unix.CPUSet) (core int, found bool) {
	on := make(map[uint32]int) // PEs, by coreOf
	for i := range d.layout.PEs {
		on[d.coreOf(i)]++
	}
	fewest := on[d.status.Core.Load()] - 1
	for w, word := range cores {
		for ; word != 0; word &= word - 1 {
			c := w*bits.UintSize + bits.TrailingZeros64(uint64(word))
			if n := on[uint32(c)+1]; n < fewest {
				core, fewest, found = c, n, true
			}
		}
	}
	return core, found
}

// move moves the calling thread to an emptier core, if it may run there.
func (d *Domain) move() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return
	}
	core, found := d.emptier(&all)
	if !found {
		return
	}
	one.Set(core)
	if unix.SchedSetaffinity(0, &one) == nil {
		_ = unix.SchedSetaffinity(0, &all) // what was allowed is not refused
	}
	d.status.Core.Store(uint32(core) + 1)
	d.place.moves.Add(1)
}
