// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/env"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/symheap"
)

// Version is goshmem's version.
const Version = "0.1.0-dev"

// A PE is a processing element's handle on its job. All its methods are safe for
// use by several goroutines at once; the collective ones must be called in the
// same order by every PE, so at most one at a time.
type PE struct {
	me, npes int
	ctx      *Context // the default context
	world    *Team
	shared   *Team
	crowded  bool
	nodes    []int // as in Host

	algorithms collectives.Choices

	domain fabric.Domain
	commit fabric.Committer // nil if memory needs no committing
	turns  fabric.Turner    // where PEs wait for locks, nil: in their heaps
	fabric string           // name of the provider
	exit   func(code int, message string)
	leave  func() error // nil: nothing to do

	partLists sync.Pool     // of *partList, for vectored transfers
	draws     atomic.Uint64 // see draw
	objects   objects

	mu       sync.Mutex // guards what follows
	heap     *symheap.Heap
	slots    uint64            // of teams: a bit for each that is free
	contexts map[*Context]bool // that are open, but for the default one
	starting map[*Team]bool    // teams of which collectives have been started
}

// A Host is what a PE needs of whoever starts it. Programs use [Main] or [Init];
// Host is for test harnesses and embedders that open a domain themselves.
type Host struct {
	Domain   fabric.Domain // registered and connected
	Fabric   string        // name of its provider
	PE, NPEs int
	Crowded  bool // PEs of some node outnumber its cores: the same on every PE

	// Nodes are the PEs that are the first of their nodes, in ascending order, if the PEs of each
	// reach each other by loads and stores, and lie at equal distances; nil if some do not. The same on every PE.
	Nodes []int

	// Algorithms names the algorithms of collectives that are asked for, in the form of
	// SHMEM_COLLECTIVES: the same on every PE.
	Algorithms string

	// Exit ends the job with a status and does not return.
	Exit func(code int, message string)

	// Leave, unless nil, is called by Detach when the PE has completed its last operation and
	// before it closes the domain. It returns when all PEs have come so far, if
	// the domain must not be closed while others may still use it.
	Leave func() error
}

// Attach returns the PE of a host. Every PE of the job calls it; it returns once
// all have.
func Attach(h Host) (*PE, error) {
	ep, err := h.Domain.Endpoint()
	if err != nil {
		return nil, err
	}
	w := symheap.NewWindow(h.Domain, ep, h.PE, h.NPEs)
	if w.Size() < segment.SystemSize {
		return nil, fmt.Errorf("a segment of %d bytes: the runtime itself needs %d", w.Size(), segment.SystemSize)
	}
	pe := &PE{
		me:     h.PE,
		npes:   h.NPEs,
		domain: h.Domain,
		fabric: h.Fabric,
		exit:   h.Exit,
		leave:  h.Leave,

		crowded:  h.Crowded,
		nodes:    h.Nodes,
		heap:     symheap.New(segment.SystemSize, w.Size()-segment.SystemSize),
		slots:    freeSlots,
		contexts: map[*Context]bool{},
		starting: map[*Team]bool{},
	}
	if pe.algorithms, err = collectives.ParseChoices(h.Algorithms); err != nil {
		return nil, fmt.Errorf("%s: %w", env.Collectives, err)
	}
	pe.commit, _ = h.Domain.(fabric.Committer)
	if w.AllNear() {
		pe.turns, _ = h.Domain.(fabric.Turner)
	}
	pe.ctx = &Context{w: *w, npes: h.NPEs, me: h.PE, pe: pe}
	group := collectives.New(&pe.ctx.w, 0, h.Crowded, collectives.Choices{}, h.Nodes, callSite)
	pe.world = &Team{pe: pe, group: group, slot: worldSlot}
	pe.shared = pe.newTeam(pe.sharing(), sharedSlot, TeamConfig{})
	pe.ctx.team = pe.world
	// By the usual algorithm: PEs that differ in their choices can meet in no other.
	if err := group.Sync(collectives.Call{Kind: collectives.KindInit, Arg: pe.algorithms.Word()}); err != nil {
		return nil, err
	}
	group.Choose(pe.algorithms)
	return pe, nil
}

// MyPE returns the calling PE's number, in [0, NPEs). OpenSHMEM 1.6, 9.1.2.
func (pe *PE) MyPE() int { return pe.me }

// NPEs returns the number of PEs in the job. OpenSHMEM 1.6, 9.1.3.
func (pe *PE) NPEs() int { return pe.npes }

// Accessible reports whether there is a PE target whose memory the verbs
// reach. OpenSHMEM 1.6, 9.1.7 (shmem_pe_accessible).
func (pe *PE) Accessible(target int) bool { return target >= 0 && target < pe.npes }

// Fence is [Context.Fence] on the default context.
func (pe *PE) Fence() {
	if pe.ctx.w.FenceDue() { // not ctx.Fence, whose test for nil is more than can be inlined here
		pe.ctx.fenceSlow()
	}
}

// Quiet is [Context.Quiet] on the default context.
func (pe *PE) Quiet() {
	if pe.ctx.w.FenceDue() { // as in Fence
		pe.ctx.quietSlow()
	}
}

// QuietPEs is [Context.QuietPEs] on the default context.
func (pe *PE) QuietPEs(list []int) { pe.ctx.QuietPEs(list) }

// Context returns the default context.
func (pe *PE) Context() *Context { return pe.ctx }

// GlobalExit ends the job with status code, whatever the other PEs do, and does
// not return. With several callers, one's code wins. In shmemtest it fails the test
// unless code is 0, and never ends the process.
//
// OpenSHMEM 1.6, 9.1.6 (shmem_global_exit).
func (pe *PE) GlobalExit(code int) {
	pe.exit(code, "")
	panic("shmem: the host's exit returned")
}

// Detach is the collective end of what Attach began: it completes all
// operations on every context, closes these, waits for all PEs, and closes the domain. Local slices stay valid.
//
// Detach panics if a [Collective] has not been waited for.
func (pe *PE) Detach() error {
	pe.refuseStarted("Finalize")
	if err := pe.world.endStarted("Finalize", collectives.KindFinalize, (*collectives.Group).Sync); err != nil {
		return pe.collectiveError("Finalize", err)
	}
	pe.closeContexts(nil)
	pe.ctx.Quiet()
	if err := pe.world.enter("Finalize").Sync(collectives.Call{Kind: collectives.KindFinalize}); err != nil {
		return pe.collectiveError("Finalize", err)
	}
	pe.ctx.closed.Store(true)
	if err := pe.ctx.w.Endpoint().Close(); err != nil {
		return err
	}
	if pe.leave != nil {
		if err := pe.leave(); err != nil {
			return err
		}
	}
	return pe.domain.Close()
}
