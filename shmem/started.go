// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/internal/frames"
)

// A Collective is a collective that has been started, by one of the …Async calls, and
// runs while the program does something else: it computes, or is in other collectives,
// of the same team too. Its objects are the library's until it is complete: nobody
// stores to src, nobody uses dst, and neither is freed.
//
// The members of a team call its collectives in the same order, those that start and those that wait
// in the call: a start, too, is one collective at a time. Started ones run one
// after the other, as they were started. At most 64 of a team are under way or not waited
// for: the start of another waits for the oldest. Each has to be waited for, or one that was
// started after it, before the team is destroyed and before Finalize.
//
// A goroutine of the library runs it. Any goroutine may wait for it, several at once too.
//
// Beyond OpenSHMEM 1.6, 9.10.
type Collective struct {
	team  *Team
	op    string
	at    [frames.Depth]uintptr // where it was started
	waits collectives.Kind      // what waits for it
	done  chan struct{}
	err   error // once it is done
}

// mostStarted is how many collectives of a team may be waited for.
const mostStarted = 64

// startedPatience is how long a wait looks for nothing but the collective's end at
// first, and then twice as long each time: a look asks all members.
const startedPatience = time.Second / 2

// started are the collectives of a team that the program has started.
type started struct {
	group *collectives.Group // of its own; set by the first start

	mu   sync.Mutex
	list []*Collective // that have not been waited for, in the order of their starts
	last *Collective   // nil: none was started
}

// start starts a collective, which run runs.
func (t *Team) start(op string, run func(*collectives.Group) error) *Collective {
	c := &Collective{team: t, op: op, waits: collectives.KindWait, done: make(chan struct{})}
	frames.Record(&c.at)
	if oldest := t.started.oldest(mostStarted); oldest != nil {
		oldest.Wait()
	}
	t.enter(op).Start()
	g := t.started.group
	if g == nil {
		g = t.pe.newGroup(t.group.Window(), slotCount+t.slot)
		t.started.group = g
		t.pe.mu.Lock()
		t.pe.starting[t] = true
		t.pe.mu.Unlock()
	}
	t.started.mu.Lock()
	before := t.started.last
	t.started.last = c
	t.started.list = append(t.started.list, c)
	t.started.mu.Unlock()
	t.done(op, nil)
	go func() {
		defer close(c.done)
		if before != nil {
			<-before.done
			c.err = before.err
		}
		if c.err == nil { // else the group is of no use any more
			g.CalledAt(c.at)
			c.err = run(g)
			g.CalledAt([frames.Depth]uintptr{})
		}
	}()
	return c
}

// Wait returns once the collective is complete on this PE: the own dst is, and src may be
// reused; others may still be inside. It does so again if it is called again.
//
// Wait panics if members started different collectives, or a different number of
// them; it names the calls that differ. Beyond OpenSHMEM 1.6, 9.10.
func (c *Collective) Wait() {
	_ = c.WaitContext(context.Background()) // which does not end
}

// WaitContext is [Collective.Wait], which also returns, with ctx's error, when ctx is done.
// The collective goes on then, and has to be waited for. Beyond OpenSHMEM 1.6, 9.10.
func (c *Collective) WaitContext(ctx context.Context) error {
	if c.Test() {
		return nil
	}
	ended, err := c.wait(ctx)
	if err != nil {
		c.team.pe.collectiveFailed(c.op, err)
	}
	return ended
}

// Test reports whether the collective is complete, as after Wait. It panics as Wait
// does. Beyond OpenSHMEM 1.6, 9.10.
func (c *Collective) Test() bool {
	if c == nil {
		panic(&Error{Op: "Wait", PE: -1, Target: -1, Reason: "the collective is nil: use what its start returned", Site: callSite()})
	}
	select {
	case <-c.done:
		c.team.started.drop(c)
		if c.err != nil {
			c.team.pe.collectiveFailed(c.op, c.err)
		}
		return true
	default:
		return false
	}
}

// wait waits for the end of the collective, or of ctx, and returns what failed.
func (c *Collective) wait(ctx context.Context) (ended, err error) {
	patience := startedPatience
	look := time.NewTimer(patience)
	defer look.Stop()
	for {
		select {
		case <-c.done:
			c.team.started.drop(c)
			return nil, c.err
		case <-ctx.Done():
			return ctx.Err(), nil
		case <-look.C:
			if err := c.look(); err != nil {
				return nil, err
			}
			patience *= 2
			look.Reset(patience)
		}
	}
}

// look finds out whether a member has left the start of this collective out, and waits in
// a later call of the team. Then that call is met, by one that differs: both fail.
func (c *Collective) look() error {
	t := c.team
	if !t.inside.CompareAndSwap(nobody, aLook) {
		return nil // a call of this PE: the members will find out there
	}
	defer t.inside.Store(nobody)
	overtaken, err := t.group.Overtaken()
	if overtaken && err == nil {
		err = t.group.Sync(collectives.Call{Kind: c.waits})
	}
	return err
}

// drop notes that a collective has been waited for, and so have those before it.
func (s *started) drop(c *Collective) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.list, c); i >= 0 {
		clear(s.list[:i+1])
		s.list = s.list[i+1:]
	}
}

// oldest returns the first collective that has not been waited for, if there are n.
func (s *started) oldest(n int) *Collective {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) < n {
		return nil
	}
	return s.list[0]
}

// endStarted is the last of the started collectives, if there are any. It compares what came before
// where members leave without doing so.
func (t *Team) endStarted(op string, kind collectives.Kind, run func(*collectives.Group, collectives.Call) error) error {
	if t.started.last == nil {
		return nil
	}
	c := t.start(op, func(g *collectives.Group) error { return run(g, collectives.Call{Kind: kind}) })
	c.waits = kind
	_, err := c.wait(context.Background())
	return err
}

// refuseStarted panics if a collective of the team has not been waited for.
func (t *Team) refuseStarted(op string) {
	if c := t.started.oldest(1); c != nil {
		t.pe.refuse(op, fmt.Sprintf("%s at %s was started, and nobody has waited for it", c.op, collectives.Place(c.at)))
	}
}

// refuseStarted panics if a collective of any team has not been waited for.
func (pe *PE) refuseStarted(op string) {
	pe.mu.Lock()
	teams := slices.Collect(maps.Keys(pe.starting))
	pe.mu.Unlock()
	for _, t := range teams {
		t.refuseStarted(op)
	}
}
