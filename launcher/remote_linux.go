// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A node is what the launcher knows of one of the job's nodes.
type node struct {
	index      int
	host       string // empty: the launcher's own
	first, pes int    // PEs first … first+pes-1 are its own

	pid   int // of the proxy, or of the agent that has started it; 0: not started
	group bool
	down  link
	out   *outbox // behind down

	greeted bool // the proxy has said hello
	started bool // its PEs run
	bye     bool // the proxy has said that nothing is left
	ended   bool // the proxy, or its agent, is gone
	network *network
	source  netip.AddrPort // where it listens for beats
	round   joiner
}

// An event is a frame of a node's proxy, or the proxy's end.
type event struct {
	node *node
	frame
	end *ending
}

// An ending says how a proxy, or its agent, has ended.
type ending struct {
	status unix.WaitStatus
	err    error // what the proxy has sent that makes no sense
	open   bool  // somebody still holds the link: this is not the end of it
}

// lastPE returns the number of the node's last PE.
func (n *node) lastPE() int { return n.first + n.pes - 1 }

// peText names the node's PEs.
func (n *node) peText() string {
	if n.pes == 1 {
		return fmt.Sprintf("PE %d is", n.first)
	}
	return fmt.Sprintf("PEs %d to %d are", n.first, n.lastPE())
}

// newNodes returns the nodes of a job.
func newNodes(job *Job) []*node {
	hosts := job.Hosts
	if len(hosts) == 0 {
		hosts = []Host{{PEs: job.NPEs}}
	}
	var nodes []*node
	first := 0
	for i, h := range hosts {
		nodes = append(nodes, &node{index: i, host: h.Name, first: first, pes: h.PEs})
		first += h.PEs
	}
	return nodes
}

// end handles the end of a node's proxy, or of its agent alone: the proxy then
// learns from the link's end that it has to go, too.
func (r *run) end(n *node, e *ending) {
	if !n.bye {
		r.orphans = true
		r.mourn(n, e)
	}
	n.out.Close()
	if e.open {
		return
	}
	n.ended = true
	if r.vigil != nil {
		r.vigil.reports[n.index] = lateness{} // it was the last one
	}
	r.release()
}

// mourn rules that the PEs of a node are lost, whose proxy or agent has ended
// without a bye.
func (r *run) mourn(n *node, e *ending) {
	how := fmt.Sprintf("exited with status %d", e.status.ExitStatus())
	switch {
	case e.err != nil:
		how = fmt.Sprintf("does not speak gorun's protocol: %v", e.err)
	case e.status.Signaled():
		how = fmt.Sprintf("was killed by signal %d (%v)", e.status.Signal(), e.status.Signal())
	}
	text := fmt.Sprintf("%sthe %s (process %d) %s", r.onHost(n), r.proxyName(), n.pid, how)
	switch {
	case !n.greeted && len(r.job.Agent) > 0:
		self, _ := os.Executable()
		r.miss(verdict{StatusError, fmt.Sprintf("%s before gorun has answered from there; is there a gorun at %s, too?", text, self), nobody})
	case len(r.nodes) == 1:
		r.lose(n, text+": its PEs are lost")
	default:
		r.lose(n, fmt.Sprintf("%s: its %s lost", text, n.peText()))
	}
}

// lose ends the job because a node is lost: unless it ends anyway, for a proxy
// that is killed then is no cause.
func (r *run) lose(n *node, text string) {
	if r.failure != nil || r.judge.verdict != nil {
		return
	}
	r.stop(verdict{StatusLostNode, text, nobody})
	if !n.ended {
		// It may hear us, or not: then its agent has to go.
		n.down.send(frame{kind: frameKill})
		r.lost, r.cutOff = n, time.After(lostGrace)
	}
}

// proxyName says what the process is that stands for a node.
func (r *run) proxyName() string {
	if len(r.job.Agent) > 0 {
		return "agent " + filepath.Base(r.job.Agent[0])
	}
	return "proxy"
}

// onHost returns what to say before what a node is about, if there are several.
func (r *run) onHost(n *node) string {
	if len(r.nodes) == 1 {
		return ""
	}
	return "host " + n.host + ": "
}

// nodeOf returns the node of a PE.
func (r *run) nodeOf(pe int) *node {
	i, _ := slices.BinarySearchFunc(r.nodes, pe, func(n *node, pe int) int { return n.lastPE() - pe })
	return r.nodes[i]
}

// connect handles what a node tells of its network: once all nodes have told,
// each learns it of all.
func (r *run) connect(n *node, f frame) error {
	switch f.kind {
	case frameNetwork:
		n.network = new(network)
		if err := json.Unmarshal(f.data, n.network); err != nil {
			return fmt.Errorf("its network: %w", err)
		}
		var all []network
		for _, other := range r.nodes {
			if other.network == nil {
				return nil
			}
			all = append(all, *other.network)
		}
		return r.tell(frameNetworks, all)
	case frameSource:
		var err error
		if n.source, err = netip.ParseAddrPort(string(f.data)); err != nil {
			return fmt.Errorf("its address: %w", err)
		}
		r.log("host %s is at %v on the data network, and listens there at UDP port %d for beats", n.host, n.source.Addr(), n.source.Port())
		var all []netip.AddrPort
		for _, other := range r.nodes {
			if !other.source.IsValid() {
				return nil
			}
			if a, b := r.nodes[0].source.Addr(), other.source.Addr(); a.IsLoopback() != b.IsLoopback() || a.Is4() != b.Is4() {
				return fmt.Errorf("host %s has address %v and host %s address %v on the data network, which can't reach each other; choose an interface with --iface", r.nodes[0].host, a, other.host, b)
			}
			all = append(all, other.source)
		}
		return r.tell(framePeers, all)
	}
	return nil
}

// tell sends a value to all nodes.
func (r *run) tell(k kind, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f := frame{kind: k, data: data}
	if err := f.check(); err != nil {
		return err
	}
	r.send(f)
	return nil
}

// join handles a node's part in a round of the bootstrap.
func (r *run) join(n *node, f frame) {
	var err error
	switch f.kind {
	case frameRound:
		var round, all []byte
		if round, err = n.round.add(f); err == nil && round != nil {
			all, err = r.hub.Add(n.index, round)
		}
		switch {
		case all != nil:
			r.overdue = nil
			for _, n := range r.nodes {
				n.down.sendParts(frameTable, all)
			}
		case round != nil && r.overdue == nil:
			r.overdue = time.After(overdueWait)
		}
	case frameFinalized:
		err = r.hub.Finalize(f.pe)
	case frameRoundFailed:
		err = errors.New(string(f.data))
	}
	if err != nil {
		r.overdue = nil
		r.send(frame{kind: frameRefuse, data: []byte(err.Error())})
	}
}

// remind tells which nodes the others wait for.
func (r *run) remind() {
	nodes, collective := r.hub.Missing()
	var missing []string
	for _, i := range nodes {
		if len(missing) == 4 {
			missing = append(missing, "others")
			break
		}
		missing = append(missing, r.nodes[i].host)
	}
	if len(missing) > 0 {
		r.say(fmt.Sprintf("hosts have been waiting in %s for %v, where not all PEs of these have come: %s", collective, overdueWait, strings.Join(missing, ", ")))
	}
}

// watchBeats handles a node's report of late beats.
func (r *run) watchBeats(n *node, f frame) {
	var l lateness
	if err := json.Unmarshal(f.data, &l); err != nil {
		return // a proxy that talks nonsense is no reason to end
	}
	l.Late = slices.DeleteFunc(l.Late, func(l lateNode) bool { return l.Node < 0 || l.Node >= len(r.nodes) })
	r.vigil.reports[n.index] = l
	lost := r.vigil.lost(func(node int) bool { return !r.nodes[node].bye })
	if lost == nobody {
		return
	}
	n = r.nodes[lost]
	r.lose(n, fmt.Sprintf("host %s is not reachable over the data network (address %v): its %s lost", n.host, n.source.Addr(), n.peText()))
}

// feed sends our standard input to PE 0's node, as PE 0 takes it.
func (r *run) feed(n *node) {
	buf := make([]byte, maxOutput)
	for {
		size, err := os.Stdin.Read(buf)
		if size > 0 {
			r.input.take(size)
			n.down.send(frame{kind: frameInput, data: buf[:size]})
		}
		if err != nil {
			n.down.send(frame{kind: frameInput}) // that was all
			return
		}
	}
}

// silentHosts returns the hosts whose PEs do not run yet.
func (r *run) silentHosts() string {
	var hosts []string
	for _, n := range r.nodes {
		if !n.started {
			hosts = append(hosts, cmp.Or(n.host, "this one"))
		}
	}
	return strings.Join(hosts, ", ")
}
