// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"fmt"

	"github.com/goshmem/goshmem/fabric"
)

// A ContextOption says how a program will use a context. Options promise
// something to the library, and change nothing that a program may rely on.
//
// OpenSHMEM 1.6, 9.5.1.
type ContextOption uint

// The options of contexts.
const (
	Private    ContextOption = 1 << iota // only the goroutine that made it uses it
	Serialized                           // no two goroutines use it at once
	NoStore                              // its Fence and Quiet need not order plain stores
)

// NewContext is [Team.NewContext] on the team of all PEs. OpenSHMEM 1.6, 9.5.1
// (shmem_ctx_create).
func (pe *PE) NewContext(opts ...ContextOption) (*Context, error) {
	return pe.world.newContext(opts)
}

// NewContext returns a new context of the team: a stream of operations on the
// team's PEs, by their numbers in it, with its own Fence and Quiet. The other
// members take no part. Where the fabric has fewer queues than contexts,
// several share one; each is still ordered and completed on its own.
//
// The error says what the fabric refuses; nothing else is changed by it. Close
// ends the context. NewContext panics if the team is nil or destroyed.
// OpenSHMEM 1.6, 9.5.2 (shmem_team_create_ctx).
func (t *Team) NewContext(opts ...ContextOption) (*Context, error) {
	t.check("NewContext")
	return t.newContext(opts)
}

func (t *Team) newContext(opts []ContextOption) (*Context, error) {
	pe := t.pe
	for _, o := range opts {
		if o&^(Private|Serialized|NoStore) != 0 {
			pe.refuse("NewContext", fmt.Sprintf("option %#x is none of Private, Serialized, NoStore", uint(o)))
		}
	}
	ep, err := pe.domain.Endpoint()
	if err != nil {
		return nil, fmt.Errorf("shmem: NewContext on PE %d: %w", pe.me, err)
	}
	w := pe.ctx.w.Team(t.group.Window().Members(), t.group.Me(), fabric.Extend(ep))
	ctx := &Context{w: *w, npes: w.NPEs(), me: w.Me(), pe: pe, team: t}
	pe.mu.Lock()
	pe.contexts[ctx] = true
	pe.mu.Unlock()
	return ctx, nil
}

// Team returns the context's team, nil for a nil context. OpenSHMEM 1.6, 9.5.4
// (shmem_ctx_get_team).
func (ctx *Context) Team() *Team {
	if ctx == nil {
		return nil
	}
	ctx.check("Team")
	return ctx.team
}

// Close completes every operation on the context, as Quiet does, and ends it.
// Whoever uses it afterwards is refused. Closing a nil context does nothing.
//
// Close panics if the context is a default one or closed already. OpenSHMEM
// 1.6, 9.5.3 (shmem_ctx_destroy).
func (ctx *Context) Close() {
	if ctx == nil {
		return
	}
	ctx.check("Close")
	if ctx == ctx.pe.ctx {
		ctx.pe.refuse("Close", "this is the default context, which stays until Finalize")
	}
	ctx.pe.mu.Lock()
	open := ctx.pe.contexts[ctx]
	delete(ctx.pe.contexts, ctx)
	ctx.pe.mu.Unlock()
	if open {
		ctx.end()
	}
}

// end ends a context that is in nobody's list any more.
func (ctx *Context) end() {
	ctx.Quiet()
	ctx.closed.Store(true) // before the endpoint is, for a Future's Wait
	ctx.must("Close", -1, ctx.w.Endpoint().Close())
	ctx.npes = 0 // so that the verbs' own checks, too, send every use to check
	ctx.w.End()
}

// closeContexts closes the contexts of a team, or all for nil.
func (pe *PE) closeContexts(t *Team) {
	var open []*Context
	pe.mu.Lock()
	for ctx := range pe.contexts {
		if t == nil || ctx.team == t {
			open = append(open, ctx)
			delete(pe.contexts, ctx)
		}
	}
	pe.mu.Unlock()
	for _, ctx := range open {
		ctx.end()
	}
}

const closedReason = "the context was closed, by Close, with its team, or by Finalize"

// check panics if the context is closed.
func (ctx *Context) check(op string) {
	if ctx.closed.Load() {
		ctx.pe.refuse(op, closedReason)
	}
}

// alias returns what the world calls PE target of the context's team, "" if that
// is the same or there is no such PE.
func (ctx *Context) alias(target int) string {
	if target < 0 || target >= ctx.npes || ctx.team == ctx.pe.world {
		return ""
	}
	return fmt.Sprintf(" of the team, which is PE %d of the world", ctx.world(target))
}

// SessionConfig describes a session. OpenSHMEM 1.6, 9.9.1
// (shmem_ctx_session_config_t).
type SessionConfig struct {
	// Batch allows to hold small operations back for a short while and to send
	// several at once: more of them a second, each later. Without it the library does so over
	// TCP for non-blocking puts only, of which many are in flight. SHMEM_CTX_SESSION_BATCH.
	Batch bool

	// TotalOps is about how many operations the session will have, 0 if that is
	// not known.
	TotalOps int
}

const sessionBatch = 1 << iota // in Context.session

// StartSession says that many operations of a kind follow on the context. It is a
// hint: what Fence, Quiet and waits promise stays as it is. Starting another
// session before StopSession adds its hints. On a nil context it does nothing.
//
// StartSession panics if the context is closed or TotalOps negative. OpenSHMEM
// 1.6, 9.9.2 (shmem_ctx_session_start).
func (ctx *Context) StartSession(c SessionConfig) {
	if ctx == nil {
		return
	}
	ctx.check("StartSession")
	if c.TotalOps < 0 {
		ctx.pe.refuse("StartSession", fmt.Sprintf("%d operations in all: the number may not be negative", c.TotalOps))
	}
	if c.Batch {
		ctx.session.Or(sessionBatch)
		ctx.must("StartSession", -1, ctx.w.Endpoint().Batch(true))
	}
}

// StopSession ends the context's sessions. Without one, and on a nil context, it
// does nothing.
//
// StopSession panics if the context is closed. OpenSHMEM 1.6, 9.9.3
// (shmem_ctx_session_stop).
func (ctx *Context) StopSession() {
	if ctx == nil {
		return
	}
	ctx.check("StopSession")
	if ctx.session.Swap(0)&sessionBatch != 0 {
		ctx.must("StopSession", -1, ctx.w.Endpoint().Batch(false))
	}
}
