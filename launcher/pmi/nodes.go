// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"errors"
	"fmt"
	"strings"
)

// On a job of several nodes each has a server of its own. A round is first
// completed among the PEs of each node; what it comes to there, encoded, goes to
// the launcher's [Hub], which returns the same to all servers once every node
// has come:
//
//	of a node   a table of three: the op (1 byte), keys that PMI-1 PEs of the node
//	            have put since its last round (a table of names and values in
//	            turn), and the blobs of its PEs (a table)
//	of the job  a table of those of the nodes, in the order of their PEs
//
// A round that fails on one node fails on all, and so do all rounds after it.

// RoundLimit is the most bytes of an encoded round of a job of npes PEs.
func RoundLimit(npes int) int { return tableLimit(npes) + maxKeysSize + 64*npes }

// A nodeRound is a round of one node, decoded.
type nodeRound struct {
	op    byte
	keys  [][]byte // names and values in turn
	table []byte   // the blobs, encoded
}

func (r nodeRound) encode() []byte {
	return encodeTable([][]byte{{r.op}, encodeTable(r.keys), r.table})
}

// parseNodeRound decodes the round of a node that has pes PEs.
func parseNodeRound(b []byte, pes int) (nodeRound, error) {
	parts, err := parseTable(b, 3)
	if err != nil {
		return nodeRound{}, err
	}
	if len(parts[0]) != 1 {
		return nodeRound{}, fmt.Errorf("an op of %d bytes", len(parts[0]))
	}
	r := nodeRound{op: parts[0][0], table: parts[2]}
	if r.keys, err = parseList(parts[1]); err != nil {
		return nodeRound{}, fmt.Errorf("keys: %w", err)
	}
	switch {
	case len(r.keys)%2 != 0:
		return nodeRound{}, fmt.Errorf("%d names and values of keys", len(r.keys))
	case r.op != opBarrier && r.op != opAllgather:
		return nodeRound{}, fmt.Errorf("op %d is no collective", r.op)
	}
	if _, err := parseTable(r.table, pes); err != nil {
		return nodeRound{}, fmt.Errorf("blobs: %w", err)
	}
	return r, nil
}

// mapping returns the value of PMI_process_mapping: runs of nodes with the same
// number of PEs. It is empty if it is too long for a PMI-1 value: clients then
// find out for themselves who is near.
func mapping(nodes []int) string {
	var b strings.Builder
	b.WriteString("(vector")
	for first := 0; first < len(nodes); {
		count := 1
		for first+count < len(nodes) && nodes[first+count] == nodes[first] {
			count++
		}
		fmt.Fprintf(&b, ",(%d,%d,%d)", first, count, nodes[first])
		first += count
	}
	b.WriteString(")")
	if b.Len() >= vallenMax {
		return ""
	}
	return b.String()
}

// upLocked sends the round under way, complete on this node, to the hub.
func (s *Server) upLocked() {
	r := nodeRound{op: s.round.op, keys: s.fresh, table: encodeTable(s.round.blobs)}
	s.fresh = nil
	s.job.Up(r.encode())
}

// Complete ends the round that waits for other nodes. The error says why the
// hub's answer makes no sense; the round has failed then.
func (s *Server) Complete(all []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.round == nil || s.round.count < len(s.peers) {
		return nil // it has failed on this node, which the hub learns
	}
	err := s.completeLocked(all)
	if err != nil {
		err = fmt.Errorf("a round of all nodes: %w", err)
		s.failLocked(err.Error())
	}
	return err
}

func (s *Server) completeLocked(all []byte) error {
	parts, err := parseTable(all, len(s.job.Nodes))
	if err != nil {
		return err
	}
	var table []byte
	for node, part := range parts {
		r, err := parseNodeRound(part, s.job.Nodes[node])
		if err != nil {
			return fmt.Errorf("node %d: %w", node, err)
		}
		if r.op != s.round.op {
			return fmt.Errorf("node %d is in %s, this one in %s", node, opName(r.op), opName(s.round.op))
		}
		table = append(table, r.table...)
		for i := 0; node != s.job.Node && i < len(r.keys); i += 2 {
			if !s.keepLocked(string(r.keys[i]), string(r.keys[i+1])) {
				return errors.New("the PEs of all nodes have put too many keys")
			}
		}
	}
	if s.round.op == opAllgather {
		s.round.table = table
	}
	s.endLocked("")
	return nil
}

// Fail makes the round under way, if there is one, and all later ones fail.
func (s *Server) Fail(problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failLocked(problem)
}

func (s *Server) failLocked(problem string) {
	if s.problem == "" {
		s.problem = problem
	}
	if s.round != nil {
		s.endLocked(problem)
	}
}

// A Hub joins the rounds of a job's servers. It is for one goroutine.
type Hub struct {
	nodes     []int // PEs of each
	rounds    [][]byte
	op        byte
	count     int
	finalized int // a PE that takes part in no round any more, or -1
}

// NewHub returns a hub for nodes with that many PEs each.
func NewHub(nodes []int) *Hub {
	return &Hub{nodes: nodes, rounds: make([][]byte, len(nodes)), finalized: -1}
}

// first returns the number of a node's first PE.
func (h *Hub) first(node int) int {
	first := 0
	for _, pes := range h.nodes[:node] {
		first += pes
	}
	return first
}

// Add takes the round of a node. It returns what all servers are to be given by
// Complete if that is the last node to come, and nil before. The error is for
// all servers' Fail.
func (h *Hub) Add(node int, round []byte) (all []byte, err error) {
	r, err := parseNodeRound(round, h.nodes[node])
	if err != nil {
		return nil, fmt.Errorf("a round of PE %d's node: %w", h.first(node), err)
	}
	if h.count > 0 && r.op != h.op {
		return nil, fmt.Errorf("PE %d is in %s while PE %d waits in %s", h.first(node), opName(r.op), h.waiting(), opName(h.op))
	}
	if h.rounds[node] != nil {
		return nil, fmt.Errorf("the node of PE %d has joined %s twice", h.first(node), opName(r.op))
	}
	h.op = r.op
	h.rounds[node] = round
	h.count++
	if err := h.Finalize(h.finalized); err != nil {
		return nil, err
	}
	if h.count < len(h.nodes) {
		return nil, nil
	}
	all = encodeTable(h.rounds)
	clear(h.rounds)
	h.count = 0
	return all, nil
}

// Finalize notes that pe takes part in no round any more. The error, for all
// servers' Fail, is for a PE that waits in one.
func (h *Hub) Finalize(pe int) error {
	h.finalized = pe
	if pe < 0 || h.count == 0 {
		return nil
	}
	return errors.New(finalizedText(pe, h.waiting(), h.op))
}

// waiting returns the number of a PE that has come.
func (h *Hub) waiting() int {
	for node, r := range h.rounds {
		if r != nil {
			return h.first(node)
		}
	}
	return 0
}

// Missing returns the nodes that others wait for, and what they wait in; none if
// no node waits.
func (h *Hub) Missing() (nodes []int, collective string) {
	for node, r := range h.rounds {
		if r == nil && h.count > 0 {
			nodes = append(nodes, node)
		}
	}
	return nodes, opName(h.op)
}
