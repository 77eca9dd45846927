// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"fmt"
	"strings"
	"time"
)

// A round is one collective of a job: every PE joins it, and the last one to
// come completes it for all. Since a PE waits for its reply before it asks for
// anything else, a job has one round at a time.
type round struct {
	op     byte
	joined []bool
	blobs  [][]byte
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

func peText(pe int) string { return fmt.Sprintf("PE %d", pe) }

// first returns the number of a PE that has joined.
func (r *round) first() int {
	for pe, in := range r.joined {
		if in {
			return pe
		}
	}
	return 0
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
			joined: make([]bool, s.job.NPEs),
			blobs:  make([][]byte, s.job.NPEs),
			done:   make(chan struct{}),
		}
		s.round = r
		r.notice = time.AfterFunc(s.overdue, func() { s.notice(r) })
	}
	switch {
	case r.op != op:
		s.endLocked(fmt.Sprintf("PE %d is in %s while %s waits in %s", pe, opName(op), peText(r.first()), opName(r.op)))
		return r
	case r.joined[pe]:
		s.endLocked(fmt.Sprintf("PE %d has joined %s twice", pe, opName(op)))
		return r
	}
	r.joined[pe] = true
	r.blobs[pe] = blob
	r.count++
	if gone := s.finalizedLocked(); gone >= 0 {
		s.endLocked(fmt.Sprintf("PE %d has called Finalize while %s waits in %s", gone, peText(pe), opName(op)))
	} else if r.count == s.job.NPEs {
		if op == opAllgather {
			r.table = encodeTable(r.blobs)
		}
		s.endLocked("")
	}
	return r
}

// notice tells which PEs the others wait for in r.
func (s *Server) notice(r *round) {
	const most = 9 // names in the text
	var missing []string
	s.mu.Lock()
	for pe, in := range r.joined {
		switch {
		case in:
		case len(missing) < most:
			missing = append(missing, peText(pe))
		default:
			missing[most-1] = "others"
		}
	}
	waiting, over := r.first(), s.round != r
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
	for pe, p := range s.peers {
		if p.state == Finalized {
			return pe
		}
	}
	return -1
}
