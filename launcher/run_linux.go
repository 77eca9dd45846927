// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/launcher/pmi"
)

const (
	stopGrace      = time.Second            // from SIGTERM to SIGKILL, after a failure
	abortGrace     = 500 * time.Millisecond // the same, after a PE has asked for the end
	interruptGrace = 5 * time.Second        // from the user's signal to SIGKILL
	flushWait      = time.Second            // for the signal to be on its way before we stop
	interruptAgain = 100 * time.Millisecond // a second signal within is the same one
	proxyGrace     = 5 * time.Second        // from SIGKILL of the PEs to that of the proxy
	lostGrace      = time.Second            // the same, if its node is lost
	startWait      = 30 * time.Second       // for all hosts to answer
	overdueWait    = 10 * time.Second       // when a round of the bootstrap is worth a notice
)

// A run is a job that runs.
type run struct {
	job    Job
	shared bool // our process group is also that of the PEs
	begun  time.Time
	nodes  []*node
	events chan event
	out    *output
	judge  *judge
	pes    []peOutput

	failure *verdict // why the job could not be started
	orphans bool     // a proxy may have left processes, which become ours

	// Of a job of several nodes, or with an agent.
	hub     *pmi.Hub
	vigil   *vigil
	input   *credit
	overdue <-chan time.Time // when a round has waited for long
	answer  <-chan time.Time // when all hosts should have answered
	lost    *node            // is not reachable, and told to end
	cutOff  <-chan time.Time // when its grace ends

	interrupted time.Time
	urgent      bool // do not wait for whoever reads our output
	timeout     <-chan time.Time
	killAt      time.Time        // when the PEs' grace ends
	kill        <-chan time.Time // then
	giveUp      <-chan time.Time // when the proxy's grace ends
}

// peOutput is what the launcher knows of a PE's output.
type peOutput struct {
	words  lastWords
	labels [3]labeler // by stream
}

// Run runs a job: it returns the exit status for gorun once no process of the
// job is left. The PEs get our standard input (PE 0) and output, and signals
// are passed on to them. If the job fails, the last line that Run writes to
// standard error says why.
//
// Run starts this executable again, as a proxy: main must call [Proxy] when
// [IsProxy] says so. Run handles signals of the whole process, so it is for
// commands.
func Run(job Job) int {
	if err := check(&job); err != nil {
		fmt.Fprintf(os.Stderr, "gorun: %v\n", err)
		return StatusUsage
	}
	// Our readers may be gone before we are: that is an error, not our end.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unignored(forwarded[:])...)
	defer signal.Stop(signals)

	spare := make(map[int]bool) // children from before, of whoever has executed us
	for _, pid := range children() {
		spare[pid] = true
	}
	r := &run{job: job, events: make(chan event, 16), nodes: newNodes(&job), pes: make([]peOutput, job.NPEs)}
	r.judge = newJudge(func(pe int) string { return r.onHost(r.nodeOf(pe)) })
	for i := range r.pes {
		for stream := range r.pes[i].labels {
			r.pes[i].labels[stream].pe = i
		}
	}
	r.out = newOutput(os.Stdout, os.Stderr, func(node int, n int64) {
		r.nodes[node].down.send(frame{kind: frameCredit, n: n})
	})
	if err := r.start(); err != nil {
		r.fail(verdict{StatusError, err.Error(), nobody})
	}
	r.watch(signals)
	if r.orphans {
		killOrphans(spare)
	}
	return r.finish()
}

// watch handles what happens until all proxies are gone.
func (r *run) watch(signals <-chan os.Signal) {
	for r.anyLeft() {
		select {
		case e := <-r.events:
			if e.end != nil {
				r.end(e.node, e.end)
			} else {
				r.handle(e.node, e.frame)
			}
		case s := <-signals:
			r.signal(s.(unix.Signal))
		case err := <-r.out.failed:
			v := verdict{StatusError, fmt.Sprintf("standard output: %v", err), nobody}
			if errors.Is(err, unix.EPIPE) {
				v = verdict{StatusSignal + int(unix.SIGPIPE), "", nobody}
			}
			r.stop(v)
		case <-r.timeout:
			r.urgent = true
			r.stop(verdict{StatusTimeout, fmt.Sprintf("the job has taken longer than %v (--timeout)", r.job.Timeout), nobody})
		case <-r.answer:
			r.miss(verdict{StatusLostNode, fmt.Sprintf("these hosts have not started their PEs within %v: %s", startWait, r.silentHosts()), nobody})
		case <-r.overdue:
			r.overdue = nil
			r.remind()
		case <-r.cutOff:
			r.cutOff = nil
			for _, n := range r.nodes {
				if n.pid != 0 && !n.ended && (n == r.lost || !n.greeted) {
					n.kill()
				}
			}
		case <-r.kill:
			r.kill = nil
			r.send(frame{kind: frameKill})
			r.giveUp = time.After(proxyGrace)
		case <-r.giveUp:
			for _, n := range r.nodes {
				if n.pid != 0 && !n.ended {
					n.kill()
				}
			}
		}
	}
}

// anyLeft reports whether a proxy is left.
func (r *run) anyLeft() bool {
	return slices.ContainsFunc(r.nodes, func(n *node) bool { return n.pid != 0 && !n.ended })
}

// release lets the proxies end once nothing is left on any node.
func (r *run) release() {
	if slices.ContainsFunc(r.nodes, func(n *node) bool { return n.pid != 0 && !n.bye && !n.ended }) {
		return
	}
	for _, n := range r.nodes {
		if n.pid != 0 {
			n.out.Close()
		}
	}
	r.giveUp = time.After(proxyGrace) // of agents that do not follow their proxies
}

// send sends a frame to all nodes.
func (r *run) send(f frame) {
	for _, n := range r.nodes {
		if n.pid != 0 {
			n.down.send(f)
		}
	}
}

// fail ends the job because of what keeps it from starting.
func (r *run) fail(v verdict) {
	if r.failure == nil {
		r.failure = &v
		r.killAfter(0)
		r.cutOff = time.After(lostGrace) // for agents that have no proxy to hear us
	}
}

// miss is fail because of a node that has not started: that is no cause if the
// job ends anyway.
func (r *run) miss(v verdict) {
	if r.judge.verdict == nil {
		r.fail(v)
	}
}

// handle handles a frame of a node's proxy.
func (r *run) handle(n *node, f frame) {
	if f.pe < n.first || f.pe > n.lastPE() {
		f.pe = n.first // not from our proxy; whatever it says is no reason to crash
	}
	switch f.kind {
	case frameHello:
		n.greeted = true
		if f.n != linkVersion {
			r.fail(verdict{StatusError, fmt.Sprintf("%sthe proxy is of another version (%d, want %d)", r.onHost(n), f.n, linkVersion), nobody})
		}
	case frameNetwork, frameSource:
		if err := r.connect(n, f); err != nil {
			r.fail(verdict{StatusUsage, fmt.Sprintf("%s%v", r.onHost(n), err), nobody})
		}
	case frameStarted:
		r.begin(n)
	case frameFailed:
		v := verdict{int(f.n), r.onHost(n) + string(f.data), nobody}
		if n.started {
			r.stop(v) // the link to the proxy is broken
		} else {
			r.fail(v)
		}
	case frameOutput:
		r.output(n, f)
	case frameInputTaken:
		if r.input != nil {
			r.input.give(f.n)
		}
	case frameJoined:
		if r.judge.join(f.pe) {
			r.terminate(stopGrace)
		}
	case frameRound, frameFinalized, frameRoundFailed:
		if r.hub != nil {
			r.join(n, f)
		}
	case frameLate:
		if r.vigil != nil {
			r.watchBeats(n, f)
		}
	case frameAbort:
		r.judge.abort(f.pe, int(f.n), string(f.data))
		r.terminate(abortGrace)
	case frameExit:
		state := pmi.Outside
		if len(f.data) == 1 {
			state = pmi.State(f.data[0])
		}
		r.log("PE %d has ended %v, with exit code (or -signal) %d", f.pe, state, f.n)
		if r.judge.exit(f.pe, int(f.n), state) {
			r.terminate(stopGrace)
		}
	case frameBroken:
		r.stop(verdict{StatusError, fmt.Sprintf("%s: %s", r.judge.name(f.pe), f.data), f.pe})
	case frameNotice:
		r.say(r.onHost(n) + string(f.data))
	case frameBye:
		n.bye = true
		r.release()
	}
}

// begin notes that a node's PEs run.
func (r *run) begin(n *node) {
	n.started = true
	r.log("%s%d PEs run, %v after gorun has started the %s (process %d)", r.onHost(n), n.pes, time.Since(r.begun).Round(time.Microsecond), r.proxyName(), n.pid)
	if n.index == 0 && !r.direct() {
		signal.Ignore(unix.SIGTTIN) // in the background, a terminal has no input for us
		go r.feed(n)
	}
	if slices.ContainsFunc(r.nodes, func(n *node) bool { return !n.started }) {
		return
	}
	r.answer = nil
	if r.job.Timeout > 0 {
		r.timeout = time.After(r.job.Timeout)
	}
	if !r.direct() {
		for _, path := range r.job.Remove {
			os.RemoveAll(path)
		}
	}
}

// output queues output of a PE.
func (r *run) output(n *node, f frame) {
	stream := 1
	if f.n == 2 {
		stream = 2
		r.pes[f.pe].words.note(f.data)
	}
	text := f.data
	if r.job.Label {
		label := &r.pes[f.pe].labels[stream]
		if text = label.append(nil, f.data); len(f.data) == 0 {
			text = label.flush(text)
		}
	}
	r.out.add(stream, text, n.index, len(f.data))
}

// stop ends the job because of v, unless it is ending.
func (r *run) stop(v verdict) {
	if r.judge.rule(v) {
		r.terminate(stopGrace)
	}
}

// terminate ends all PEs, by force after grace.
func (r *run) terminate(grace time.Duration) {
	r.send(frame{kind: frameStop, n: int64(unix.SIGTERM)})
	r.killAfter(grace)
}

// killAfter lets the PEs be killed after grace, or earlier if that is planned.
func (r *run) killAfter(grace time.Duration) {
	at := time.Now().Add(grace)
	if r.killAt.IsZero() || at.Before(r.killAt) {
		r.killAt = at
		r.kill = time.After(grace)
	}
}

// signal passes a signal of ours on to the PEs.
func (r *run) signal(s unix.Signal) {
	switch s {
	case unix.SIGINT, unix.SIGTERM:
		if r.interrupted.IsZero() {
			r.interrupted = time.Now()
			r.urgent = true
			r.judge.rule(verdict{StatusSignal + int(s), fmt.Sprintf("stopped by signal %d (%v)", s, s), nobody})
			r.killAfter(interruptGrace)
			if r.cutOff == nil && slices.ContainsFunc(r.nodes, func(n *node) bool { return !n.greeted }) {
				r.cutOff = time.After(lostGrace) // of agents that have no proxy to hear us
			}
		} else if time.Since(r.interrupted) > interruptAgain {
			r.killAfter(0)
		}
	}
	r.send(frame{kind: frameSignal, n: int64(s)})
	if s == unix.SIGTSTP {
		// Whoever waits for us, such as a shell, is to see us stopped. What is
		// not on its way by then would come when we go on.
		late, stop := context.WithTimeout(context.Background(), flushWait)
		defer stop()
		for _, n := range r.nodes {
			if n.pid != 0 {
				select {
				case <-n.out.flushed():
				case <-late.Done():
				}
			}
		}
		unix.Kill(os.Getpid(), unix.SIGSTOP)
	}
}

// killOrphans kills what a proxy that is gone has left: its children are ours now.
func killOrphans(spare map[int]bool) {
	for killChildren(spare) > 0 && awaitChild() {
		for {
			if _, _, ok := reapChild(); !ok {
				break
			}
		}
	}
}

// finish writes what is left to write, and returns gorun's exit status.
func (r *run) finish() int {
	for i := range r.pes { // streams whose end has not been told
		for stream := range r.pes[i].labels {
			r.out.add(stream, r.pes[i].labels[stream].flush(nil), 0, 0)
		}
	}
	v := r.judge.verdict
	if r.failure != nil {
		v = r.failure
	}
	switch silent := r.silentHosts(); {
	case v != nil:
	case silent != "":
		v = &verdict{StatusError, "the job has ended before these hosts have started their PEs: " + silent, nobody}
	default:
		v = &verdict{StatusOK, "", nobody}
	}
	if text := v.explain(func(pe int) *lastWords { return &r.pes[pe].words }); text != "" {
		r.say(text)
	}
	r.out.close()
	if r.urgent {
		// The user wants an end, also if nobody reads our output.
		select {
		case <-r.out.done:
		case <-time.After(stopGrace):
		}
	} else {
		<-r.out.done
	}
	return v.status
}

// log queues a line of our own, for -v.
func (r *run) log(format string, args ...any) {
	if r.job.Verbose {
		r.say(fmt.Sprintf(format, args...))
	}
}

// say queues a line of our own.
func (r *run) say(text string) { r.out.add(2, []byte("gorun: "+text+"\n"), 0, 0) }

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}
