// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/goshmem/goshmem/collectives"
)

// SyncAll is Sync on the team of all PEs. OpenSHMEM 1.6, 9.10.4
// (shmem_sync_all).
func (pe *PE) SyncAll() { pe.sync("SyncAll", collectives.Call{Kind: collectives.KindSyncAll}) }

// BarrierAll completes every operation on the default context, as Quiet does,
// and returns once every PE has called it. Operations on other contexts are not
// completed.
//
// BarrierAll panics on every PE if some are in another collective: a program
// in which one PE leaves the loop early is told so, with both call sites.
// OpenSHMEM 1.6, 9.10.1 (shmem_barrier_all).
func (pe *PE) BarrierAll() {
	pe.ctx.Quiet()
	pe.sync("BarrierAll", collectives.Call{Kind: collectives.KindBarrierAll})
}

func (pe *PE) sync(op string, c collectives.Call) {
	pe.world.sync(op, c)
}

//go:noinline
func (pe *PE) collectiveFailed(op string, err error) {
	panic(pe.collectiveError(op, err))
}

// collectiveError is what a failed collective says. A mismatch names its call
// sites itself.
func (pe *PE) collectiveError(op string, err error) *Error {
	e := &Error{Op: op, PE: pe.me, Target: -1, Reason: err.Error(), Err: err}
	var mismatch *collectives.MismatchError
	if !errors.As(err, &mismatch) {
		e.Site = callSite()
	}
	return e
}

// Broadcast copies src of PE root to dst of every PE of the team, root's own
// included. The count is src.Len(), the same on every PE. On
// return the own dst is complete and src may be reused; others may still be
// inside.
//
// Broadcast panics if dst or src is zero or freed, if dst is shorter than src,
// if root is out of range, or on a mismatch. OpenSHMEM 1.6, 9.10.7
// (shmem_broadcast).
func Broadcast[T any](team *Team, dst, src Sym[T], root int) {
	checkCollective("Broadcast", team, dst, src, src.n)
	team.checkPE("Broadcast", root)
	team.done("Broadcast", collectives.Broadcast(team.enter("Broadcast"), dst.off, src.off, uint32(sizeof[T]()), src.n, root))
}

// FCollect puts all PEs' src one after the other, in the order of PEs, in every
// PE's dst: block i, of src.Len() elements, is PE i's. The count is the same on
// every PE. Completion is Broadcast's. dst and src do not overlap.
//
// FCollect panics if dst or src is zero or freed, if dst has fewer than
// NPEs·src.Len() elements, or on a mismatch. OpenSHMEM 1.6, 9.10.8
// (shmem_fcollect).
func FCollect[T any](team *Team, dst, src Sym[T]) {
	team.check("FCollect") // before NPEs looks, under its own name
	checkCollective("FCollect", team, dst, src, src.n*team.NPEs())
	team.done("FCollect", collectives.FCollect(team.enter("FCollect"), dst.off, src.off, uint32(sizeof[T]()), src.n))
}

// AllToAll gives block j of PE i's src to PE j as block i of its dst. A block is
// src.Len()/NPEs elements, the same on every PE. Completion is Broadcast's. dst
// and src do not overlap.
//
// AllToAll panics if dst or src is zero or freed, if src.Len() is not a multiple
// of NPEs or dst is shorter than src, or on a mismatch. OpenSHMEM 1.6, 9.10.5
// (shmem_alltoall).
func AllToAll[T any](team *Team, dst, src Sym[T]) {
	checkCollective("AllToAll", team, dst, src, src.n)
	n := blockOf("AllToAll", team, src)
	team.done("AllToAll", collectives.AllToAll(team.enter("AllToAll"), dst.off, src.off, uint32(sizeof[T]()), n))
}

func (t *Team) sync(op string, c collectives.Call) { t.done(op, t.enter(op).Sync(c)) }

// enter begins a collective, which done ends, and returns the group for it. It panics if
// another goroutine of this PE is in one: they would use each other's words.
func (t *Team) enter(op string) *collectives.Group {
	for !t.inside.CompareAndSwap(nobody, aCall) {
		if t.inside.Load() == aCall {
			t.pe.refuse(op, "this PE is in another collective of the team already, in another goroutine: one at a time")
		}
		runtime.Gosched() // it is a look of a few microseconds
	}
	return t.group
}

// Who may be in a team's collective.
const (
	nobody = iota
	aCall
	aLook // of Collective.Wait
)

func (t *Team) done(op string, err error) {
	t.inside.Store(nobody)
	if err != nil {
		t.pe.collectiveFailed(op, err)
	}
}

// checkCollective panics unless dst has want elements and both are usable.
func checkCollective[T any](op string, team *Team, dst, src Sym[T], want int) {
	team.check(op)
	if src.obj == nil || src.obj.live == 0 {
		src.check(op, src.n, 0)
	}
	if dst.obj == nil || dst.obj.live == 0 || dst.n < want {
		dst.check(op, want, 0)
	}
}

// Info says what library this is. OpenSHMEM 1.6, 9.1.11 and 9.1.12.
type Info struct {
	Major, Minor int    // the version of OpenSHMEM that the semantics follow
	Name         string // the library and its fabric
}

// Info returns the version of the specification that is followed and the
// library's name. OpenSHMEM 1.6, 9.1.11 (shmem_info_get_version) and 9.1.12.
func (pe *PE) Info() Info {
	return Info{Major: 1, Minor: 6, Name: fmt.Sprintf("goshmem %s (%s)", Version, pe.fabric)}
}
