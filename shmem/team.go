// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"fmt"
	"sync/atomic"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/symheap"
)

// A Team is an ordered group of PEs that call collectives together. One
// collective at a time: a PE that calls two on one team at once panics, but it may be
// in collectives of different teams, and in those that the …Async calls have started.
//
// A nil Team is SHMEM_TEAM_INVALID. All methods of a destroyed team, and most of a
// nil one, panic.
//
// OpenSHMEM 1.6, 9.4.
type Team struct {
	pe     *PE
	group  *collectives.Group
	slot   int // where in the system area its words are
	config TeamConfig
	ended  atomic.Bool
	inside atomic.Int32 // who is in a collective; see enter

	started started // collectives
}

// TeamConfig is what a program tells of a new team. OpenSHMEM 1.6, 9.4.3
// (shmem_team_config_t).
type TeamConfig struct {
	// Contexts is how many contexts the program is going to have of the team at
	// once on a PE. Nothing is set aside for them, and more may be made.
	Contexts int
}

// The slots of teams in the system area. PEs of a team that is split agree on one
// that all have free.
const (
	worldSlot = iota
	sharedSlot
	firstSlot

	slotCount = min(64, segment.SystemSize/(2*collectives.GroupSize)) // the second half is for started collectives
	freeSlots = 1<<slotCount - 1<<firstSlot                           // those that programs may have
)

// World returns the team of all PEs. OpenSHMEM 1.6, 9.4 (SHMEM_TEAM_WORLD).
func (pe *PE) World() *Team { return pe.world }

// Shared returns the team of the PEs whose memory this one's loads and stores
// reach, and theirs its: for each of them [Ptr] is not nil. Numbers ascend as
// the world's do. OpenSHMEM 1.6, 9.4 (SHMEM_TEAM_SHARED).
func (pe *PE) Shared() *Team { return pe.shared }

// sharing returns the PEs of Shared: those around this one that are mapped.
func (pe *PE) sharing() symheap.Members {
	lo, hi := pe.me, pe.me+1
	for lo > 0 && pe.domain.Map(lo-1) != nil {
		lo--
	}
	for hi < pe.npes && pe.domain.Map(hi) != nil {
		hi++
	}
	return symheap.All(pe.npes).Strided(lo, 1, hi-lo)
}

// newTeam returns a team whose words nobody uses. This PE is a member.
func (pe *PE) newTeam(m symheap.Members, slot int, c TeamConfig) *Team {
	w := pe.ctx.w.Team(m, m.Index(pe.me), pe.ctx.w.Endpoint())
	return &Team{pe: pe, group: pe.newGroup(w, slot), slot: slot, config: c}
}

// newGroup returns a group on the words of a slot.
func (pe *PE) newGroup(w *symheap.Window, slot int) *collectives.Group {
	return collectives.New(w, uintptr(slot)*collectives.GroupSize, pe.crowded, pe.algorithms, pe.nodes, callSite)
}

// MyPE returns the calling PE's number in the team, -1 for a nil team. OpenSHMEM
// 1.6, 9.4.1 (shmem_team_my_pe).
func (t *Team) MyPE() int {
	if t == nil {
		return -1
	}
	t.check("MyPE")
	return t.group.Me()
}

// NPEs returns the number of PEs in the team, -1 for a nil team. OpenSHMEM 1.6,
// 9.4.2 (shmem_team_n_pes).
func (t *Team) NPEs() int {
	if t == nil {
		return -1
	}
	t.check("NPEs")
	return t.group.NPEs()
}

// Config returns what the team was made with; ok is false for a nil team.
// OpenSHMEM 1.6, 9.4.4 (shmem_team_get_config).
func (t *Team) Config() (c TeamConfig, ok bool) {
	if t == nil {
		return TeamConfig{}, false
	}
	t.check("Config")
	return t.config, true
}

// TranslatePE returns the number that PE source of the team has in the team dest.
// It is -1 if there is no such PE in one of them, or if a team is nil. OpenSHMEM 1.6,
// 9.4.5 (shmem_team_translate_pe).
func (t *Team) TranslatePE(source int, dest *Team) int {
	if t == nil || dest == nil {
		return -1
	}
	t.check("TranslatePE")
	dest.check("TranslatePE")
	if source < 0 || source >= t.group.NPEs() {
		return -1
	}
	return dest.group.Window().Members().Index(t.group.Window().World(source))
}

// Sync returns once every PE of the team has called it. Stores to the own
// memory before it are visible to all after it; puts and atomics are not
// completed.
//
// Sync panics if the team is nil or destroyed, and on every PE if some are in
// another collective. OpenSHMEM 1.6, 9.10.3 (shmem_team_sync).
func (t *Team) Sync() {
	t.check("Sync")
	t.sync("Sync", collectives.Call{Kind: collectives.KindSyncAll})
}

// Destroy ends the team, on every PE of it together. The team's contexts that the
// program has not closed are completed, as by Quiet, and closed. All operations that
// a member issued on them are complete when Destroy returns anywhere. Destroying a nil
// team does nothing.
//
// Destroy panics if the team is predefined or destroyed already, if a [Collective] of it
// has not been waited for, and on a mismatch.
// OpenSHMEM 1.6, 9.4.8 (shmem_team_destroy).
func (t *Team) Destroy() {
	if t == nil {
		return
	}
	t.check("Destroy")
	if t.slot < firstSlot {
		t.pe.refuse("Destroy", "the team is predefined, and stays until Finalize")
	}
	t.refuseStarted("Destroy")
	if err := t.endStarted("Destroy", collectives.KindDestroy, (*collectives.Group).Leave); err != nil {
		t.pe.collectiveFailed("Destroy", err)
	}
	t.pe.closeContexts(t)
	t.done("Destroy", t.enter("Destroy").Leave(collectives.Call{Kind: collectives.KindDestroy}))
	t.ended.Store(true)
	t.pe.mu.Lock()
	delete(t.pe.starting, t)
	t.pe.mu.Unlock()
	t.pe.giveSlots(1 << t.slot)
}

// check panics if the team is nil or destroyed.
func (t *Team) check(op string) {
	if t == nil {
		panic(&Error{Op: op, PE: -1, Target: -1, Reason: "the team is nil: this PE is no member", Site: callSite()})
	}
	if t.ended.Load() {
		t.pe.refuse(op, "the team was destroyed")
	}
}

// checkPE panics if the team has no PE target.
func (t *Team) checkPE(op string, target int) {
	if target < 0 || target >= t.group.NPEs() {
		panic(&Error{Op: op, PE: t.pe.me, Target: target, Reason: t.outOfRange(target), Site: callSite()})
	}
}

// outOfRange says that the team has no PE target.
func (t *Team) outOfRange(target int) string {
	last := t.group.NPEs() - 1
	if t == t.pe.world {
		return fmt.Sprintf("PE %d is out of range: PEs are 0 to %d", target, last)
	}
	w := t.group.Window()
	return fmt.Sprintf("PE %d is out of range: the team's PEs are 0 to %d, which are the world's %d to %d", target, last, w.World(0), w.World(last))
}
