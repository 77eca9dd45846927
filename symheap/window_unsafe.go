// SPDX-License-Identifier: BSD-3-Clause

package symheap

import (
	"sync/atomic"
	"unsafe"

	"github.com/goshmem/goshmem/fabric"
)

// A Window is what one PE sees of the segments of a group of PEs: near ones
// through memory, all of them through an endpoint. PEs are numbered as the
// group numbers them.
//
// Near PEs are an arithmetic sequence of addresses, not a table: a job of
// 100,000 PEs must not cost each PE megabytes. Data and atomics have separate
// ranges, so that the rule that all atomics on a word have one actor is an
// empty range, not a second test.
type Window struct {
	// Set by NewWindow; read-only afterwards. One cache line.
	base    unsafe.Pointer // segment of near PE first
	step    uintptr        // bytes from one near PE's segment to the next
	first   int            // first near PE
	data    uint           // near PEs for data: first … first+data-1
	atomics uint           // near PEs for atomics, 0 if they go through the endpoint
	own     unsafe.Pointer // own segment
	due     *uint32        // nonzero if ordering takes more than a CPU fence
	spin    int            // looks at a word before Domain.Wait is called

	size    uintptr // bytes of a segment
	me      int
	npes    int
	members Members
	domain  fabric.Domain
	ep      *fabric.Extended
	always  uint32 // what due points to where some PE is far

	_     [128]byte
	fence uint32 // target of Fence's exchange; no other word on its lines
	_     [124]byte
}

// NewWindow returns the window of PE me on the segments of all npes PEs of a
// job, through ep, an endpoint of d.
func NewWindow(d fabric.Domain, ep fabric.Endpoint, me, npes int) *Window {
	caps := d.Caps()
	own := d.Map(me)
	w := &Window{
		own:     unsafe.Pointer(unsafe.SliceData(own)),
		spin:    caps.Spin,
		size:    uintptr(len(own)),
		me:      me,
		npes:    npes,
		members: All(npes),
		domain:  d,
		ep:      fabric.Extend(ep),
	}
	if caps.Direct {
		w.findNear(caps.CPUAtomics)
	}
	w.setDue()
	return w
}

// Team returns the window of a team's PE me on the segments of the team's
// members, through ep. w is the window of all PEs.
func (w *Window) Team(m Members, me int, ep *fabric.Extended) *Window {
	t := w.some(m, me)
	t.ep = ep
	if w.data > 0 {
		t.findNearOf(w)
	}
	t.setDue()
	return t
}

// Run returns the window of n PEs from first on, all of them near, whose numbers begin at 0. This
// PE is among them.
func (w *Window) Run(first, n int) *Window {
	t := w.some(w.members.Strided(first, 1, n), w.me-first)
	t.base, t.step, t.data = w.Data(first, 0, ^uint(0)), w.step, uint(n)
	if w.atomics > 0 {
		t.atomics = t.data
	}
	t.setDue()
	return t
}

// Far returns the window of PEs that reach each other through the endpoint, though some may be
// near. This one is PE me of them.
func (w *Window) Far(m Members, me int) *Window {
	t := w.some(m, me)
	t.base, t.first, t.data = w.own, me, 1
	t.setDue()
	return t
}

// some returns a window of m with no near PEs, through the same endpoint.
func (w *Window) some(m Members, me int) *Window {
	return &Window{own: w.own, spin: w.spin, size: w.size, me: me, npes: m.NPEs(), members: m, domain: w.domain, ep: w.ep}
}

// setDue decides what Due looks at.
func (w *Window) setDue() {
	w.due = w.domain.Sleepers()
	if !w.AllNear() {
		w.due = &w.always
		w.always = 1
	}
}

// findNear sets the near ranges: the PEs around me whose segments are mapped
// at equal distances.
func (w *Window) findNear(atomics bool) {
	addr := func(pe int) uintptr {
		if pe < 0 || pe >= w.npes {
			return 0
		}
		return uintptr(unsafe.Pointer(unsafe.SliceData(w.domain.Map(pe))))
	}
	lo, hi := w.me, w.me+1
	if next := addr(hi); next != 0 {
		w.step = next - addr(w.me)
	} else if prev := addr(lo - 1); prev != 0 {
		w.step = addr(w.me) - prev
	}
	for a := addr(lo - 1); a != 0 && addr(lo)-a == w.step; a = addr(lo - 1) {
		lo--
	}
	for a := addr(hi); a != 0 && a-addr(hi-1) == w.step; a = addr(hi) {
		hi++
	}
	w.first, w.data = lo, uint(hi-lo)
	w.base = unsafe.Pointer(unsafe.SliceData(w.domain.Map(lo)))
	if atomics {
		w.atomics = w.data
	}
}

// findNearOf sets a team's near ranges: the members around me that are near in
// all and at equal distances. Members in descending order have a step that wraps around.
func (w *Window) findNearOf(all *Window) {
	near := func(pe int) bool {
		return pe >= 0 && pe < w.npes && uint(w.World(pe)-all.first) < all.data
	}
	lo, hi, stride := w.me, w.me+1, 0
	if near(hi) {
		stride = w.World(hi) - w.World(w.me)
	} else if near(lo - 1) {
		stride = w.World(w.me) - w.World(lo-1)
	}
	for near(lo-1) && w.World(lo)-w.World(lo-1) == stride {
		lo--
	}
	for near(hi) && w.World(hi)-w.World(hi-1) == stride {
		hi++
	}
	w.step = uintptr(stride) * all.step
	w.first, w.data = lo, uint(hi-lo)
	w.base = all.Data(w.World(lo), 0, ^uint(0))
	if all.atomics > 0 {
		w.atomics = w.data
	}
}

// End takes all direct access away, for a window that must not be used any
// more: each use of it finds no near PE then, and Due true.
func (w *Window) End() {
	w.data, w.atomics, w.spin = 0, 0, 0
	w.due = &w.always
	w.always = 1
}

// Data returns the address of offset off on PE pe if loads and stores may be
// used there, else nil. live is an object's mask: all ones, or 0 once freed.
func (w *Window) Data(pe int, off uintptr, live uint) unsafe.Pointer {
	if i := uint(pe - w.first); i < w.data&live {
		// In bounds: i < data, and callers keep off within a segment;
		// alive: segments stay mapped until the process ends.
		return unsafe.Add(w.base, uintptr(i)*w.step+off)
	}
	return nil
}

// Word is Data for CPU atomics.
func (w *Window) Word(pe int, off uintptr, live uint) unsafe.Pointer {
	if i := uint(pe - w.first); i < w.atomics&live {
		// As in Data.
		return unsafe.Add(w.base, uintptr(i)*w.step+off)
	}
	return nil
}

// Own returns the address of offset off of the own segment.
func (w *Window) Own(off uintptr) unsafe.Pointer {
	// Callers keep off within the segment, which stays mapped.
	return unsafe.Add(w.own, off)
}

// Near returns the range of PEs that Data reaches.
func (w *Window) Near() (first, n int) { return w.first, int(w.data) }

// AllNear reports whether Data and Word reach every PE.
func (w *Window) AllNear() bool { return int(w.data) == w.npes && w.atomics == w.data }

// World returns the world's number of PE pe, which the endpoint takes.
func (w *Window) World(pe int) int { return w.members.World(pe) }

// Members returns who the PEs are.
func (w *Window) Members() Members { return w.members }

// Me returns the own PE's number.
func (w *Window) Me() int { return w.me }

// NPEs returns the number of PEs.
func (w *Window) NPEs() int { return w.npes }

// Mixed reports whether some near PE is reached both by direct stores and
// through the endpoint, because its atomics have another actor than the CPU.
func (w *Window) Mixed() bool { return w.data != w.atomics }

// Size returns the size of a segment in bytes.
func (w *Window) Size() uintptr { return w.size }

// Spin returns how often to look at a word before calling the domain's Wait.
func (w *Window) Spin() int { return w.spin }

// Domain returns the domain.
func (w *Window) Domain() fabric.Domain { return w.domain }

// Endpoint returns the endpoint.
func (w *Window) Endpoint() *fabric.Extended { return w.ep }

// Due reports whether, after Fence, some near PE sleeps and must be woken, or
// some PE is far, so that its endpoint has to be asked too. It is one load and
// orders nothing: a PE that is about to sleep may be missed, which costs it one
// time-out.
func (w *Window) Due() bool { return atomic.LoadUint32(w.due) != 0 }

// Fence orders all direct stores before it ahead of all direct loads and
// stores after it. On amd64 it is one XCHG on a line of its own.
func (w *Window) Fence() { atomic.SwapUint32(&w.fence, 0) }

// FenceDue is Fence and then Due, in one call, which leaves the inliner room for more.
func (w *Window) FenceDue() bool {
	atomic.SwapUint32(&w.fence, 0)
	return atomic.LoadUint32(w.due) != 0
}
