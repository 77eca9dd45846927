// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"fmt"
	"strings"
	"time"
)

// A round is one collective of a job: every PE of the node joins it, and the last
// one to come completes it for all, unless there are other nodes (nodes.go).
// Since a PE waits for its reply before it asks for anything else, a job has one
// round at a time.
type round struct {
	op     byte
	base   int      // the number of the node's first PE
	joined []bool   // by PE of the node
	blobs  [][]byte // the same
	count  int
	notice *time.Timer // when some are overdue

	done    chan struct{} // closed when the round is over
	table   []byte        // of an allgather; set before done is closed
	problem string        // why it failed, or empty; set before done is closed
}

func opName(op byte) string {
	if op == opAllgather {
		return "an allgather of the bootstrap"
	}
	return "a barrier of the bootstrap"
}

// waiting returns the number of a PE that has joined.
func (r *round) waiting() int {
	for i, in := range r.joined {
		if in {
			return r.base + i
		}
	}
	return r.base
}

// finalizedText says that a PE waits for one that will not come.
func finalizedText(gone, waiting int, op byte) string {
	return fmt.Sprintf("PE %d has called Finalize while PE %d waits in %s", gone, waiting, opName(op))
}

// reply returns what a PE hears once the round is over.
func (r *round) reply(op byte) message {
	switch {
	case r.problem != "":
		return message{opRefused, []byte(r.problem)}
	case op == opAllgather:
		return message{opTable, r.table}
	default:
		return message{op: opDone}
	}
}

// join makes pe a member of the round under way, or of a new one.
func (s *Server) join(pe int, op byte, blob []byte) *round {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.round
	if r == nil {
		r = &round{
			op:     op,
			base:   s.first,
			joined: make([]bool, len(s.peers)),
			blobs:  make([][]byte, len(s.peers)),
			done:   make(chan struct{}),
		}
		s.round = r
		r.notice = time.AfterFunc(s.overdue, func() { s.notice(r) })
	}
	switch {
	case s.problem != "":
		s.endLocked(s.problem)
		return r
	case r.op != op:
		s.breakLocked(fmt.Sprintf("PE %d is in %s while PE %d waits in %s", pe, opName(op), r.waiting(), opName(r.op)))
		return r
	case r.joined[pe-s.first]:
		s.breakLocked(fmt.Sprintf("PE %d has joined %s twice", pe, opName(op)))
		return r
	}
	r.joined[pe-s.first] = true
	r.blobs[pe-s.first] = blob
	r.count++
	switch gone := s.finalizedLocked(); {
	case gone >= 0:
		s.breakLocked(finalizedText(gone, pe, op))
	case r.count < len(s.peers):
	case s.far():
		s.upLocked()
	default:
		if op == opAllgather {
			r.table = encodeTable(r.blobs)
		}
		s.endLocked("")
	}
	return r
}

// breakLocked fails the round under way, on all nodes.
func (s *Server) breakLocked(problem string) {
	s.endLocked(problem)
	if s.far() {
		s.problem = problem // and so it stays there, too
		s.job.Failed(problem)
	}
}

// notice tells which PEs the others wait for in r.
func (s *Server) notice(r *round) {
	const most = 9 // names in the text
	var missing []string
	s.mu.Lock()
	for i, in := range r.joined {
		switch {
		case in:
		case len(missing) < most:
			missing = append(missing, fmt.Sprintf("PE %d", r.base+i))
		default:
			missing[most-1] = "others"
		}
	}
	waiting, over := r.waiting(), s.round != r || len(missing) == 0 // the hub knows who is missing elsewhere
	s.mu.Unlock()
	if !over {
		s.job.Notice(fmt.Sprintf("PE %d has been waiting in %s for %v, where these have not come: %s",
			waiting, opName(r.op), s.overdue, strings.Join(missing, ", ")))
	}
}

// endLocked completes the round under way, or fails it with a problem.
func (s *Server) endLocked(problem string) {
	s.round.notice.Stop()
	s.round.problem = problem
	close(s.round.done)
	s.round = nil
}

// finalizedLocked returns the number of a PE that takes part in no round any
// more, or -1.
func (s *Server) finalizedLocked() int {
	for i, p := range s.peers {
		if p.state == Finalized {
			return s.first + i
		}
	}
	return -1
}
