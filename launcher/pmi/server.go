// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// greetWait is how long a stranger may take to prove that it is a PE.
	greetWait = 5 * time.Second

	// maxStrangers is how many connections beyond one a PE may be greeting at
	// once; the oldest has to go when one more comes.
	maxStrangers = 256
)

// A State says how far a PE has come.
type State int

const (
	// Outside is a PE that has not called Init: maybe no SHMEM program at all.
	Outside State = iota

	// Inside is a PE between Init and Finalize: it must not end.
	Inside

	// Finalized is a PE that may end.
	Finalized
)

func (s State) String() string {
	switch s {
	case Outside:
		return "without Init"
	case Inside:
		return "between Init and Finalize"
	case Finalized:
		return "after Finalize"
	}
	return fmt.Sprintf("in state %d", int(s))
}

// A Job is what a [Server] knows of the job.
type Job struct {
	NPEs   int              // PEs of the job
	Nodes  []int            // PEs of each node, in the order of their numbers; empty: all are on this node
	Node   int              // which node this is
	ID     string           // the job's name, without spaces
	Secret [SecretSize]byte // what its PEs know

	// What the server tells of. The functions are called from any goroutine;
	// the PE that they are about has no reply yet, so it waits.
	Joined func(pe int)                       // the PE has called Init
	Abort  func(pe int, code int, msg string) // the PE wants the job to end
	Notice func(text string)                  // PEs have been waiting for others for long
	Log    func(text string)                  // something odd, of no consequence

	// What a job of several nodes needs beyond: a way to the launcher's [Hub],
	// whose answer Complete or Fail brings. The functions are called with the
	// server's lock held, so they must neither wait nor call it.
	Up        func(round []byte)   // all PEs of this node have come
	Finalized func(pe int)         // the PE, the node's first, takes part in no round any more
	Failed    func(problem string) // a round has failed here
}

// A Server is the launcher's end of the bootstrap: it answers the PEs of a job
// on this node. A PE speaks one of the two protocols; barriers join both.
type Server struct {
	job     Job
	first   int           // the number of this node's first PE
	peers   []*peer       // of this node
	overdue time.Duration // when a collective is worth a notice

	mu        sync.Mutex
	round     *round            // the collective under way, or nil
	keys      map[string]string // what PMI-1 PEs have put
	keysSize  int               // bytes of keys
	fresh     [][]byte          // names and values of keys that the other nodes have not
	problem   string            // why every round fails, or empty
	closed    bool
	strangers []Conn // being greeted, oldest first
}

// A peer is what the server knows of a PE.
type peer struct {
	// Guarded by Server.mu.
	state   State
	links   int           // connections that may still bring something
	settled chan struct{} // closed once there are none
	open    []io.Closer   // to be closed at the job's end
}

// NewServer returns a server for job. It starts no goroutine.
func NewServer(job Job) *Server {
	s := &Server{job: job, overdue: 10 * time.Second, keys: make(map[string]string)}
	if len(job.Nodes) == 0 {
		s.job.Nodes, s.job.Node = []int{job.NPEs}, 0
	}
	for _, pes := range s.job.Nodes[:s.job.Node] {
		s.first += pes
	}
	for range s.job.Nodes[s.job.Node] {
		s.peers = append(s.peers, new(peer))
	}
	if m := mapping(s.job.Nodes); m != "" {
		s.keys["PMI_process_mapping"] = m
	}
	return s
}

// far reports whether some PEs of the job are on other nodes.
func (s *Server) far() bool { return len(s.job.Nodes) > 1 }

// peer returns what the server knows of a PE of this node.
func (s *Server) peer(pe int) *peer { return s.peers[pe-s.first] }

// A Conn is the server's end of a connection.
type Conn interface {
	io.ReadWriteCloser
	SetDeadline(t time.Time) error
}

// addStranger notes that conn is being greeted.
func (s *Server) addStranger(conn Conn) {
	s.mu.Lock()
	full := len(s.strangers) >= maxStrangers+len(s.peers)
	s.strangers = append(s.strangers, conn)
	s.mu.Unlock()
	if full {
		s.DropStranger()
	}
}

// DropStranger hangs up on whoever has been greeted for the longest time. It
// is for when descriptors run out: some others will do without theirs.
func (s *Server) DropStranger() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.strangers) > 0 {
		s.strangers[0].Close()
		s.strangers = s.strangers[1:]
	}
}

// Greet notes a new connection and returns serve, which finds out who is at its other end, and
// serves it if it proves to be a PE, until it ends. That is for a goroutine of its own; Greet is called in
// the order in which connections come, which is also that in which they are given up. The
// text from says where conn comes from. The job is none the worse for whoever else it is.
func (s *Server) Greet(conn Conn, from string) (serve func()) {
	s.addStranger(conn)
	return func() { s.serve(conn, from) }
}

func (s *Server) serve(conn Conn, from string) {
	defer conn.Close()
	pe, err := s.greet(conn)
	s.mu.Lock()
	for i, c := range s.strangers {
		if c == conn {
			s.strangers = append(s.strangers[:i], s.strangers[i+1:]...)
			break
		}
	}
	refused := err == nil && s.peer(pe).state != Outside
	if err == nil && !refused {
		s.enterLocked(pe, conn)
		s.peer(pe).state = Inside
	}
	s.mu.Unlock()

	switch {
	case err != nil:
		s.log("dropped a connection from %s: %v", from, err)
	case refused:
		s.log("refused a second process that is PE %d", pe)
		text := fmt.Sprintf("PE %d has called Init before, in this process or in another", pe)
		answer(conn, message{opRefused, []byte(text)})
	default:
		defer s.leave(pe)
		s.job.Joined(pe)
		if err := s.serveGorun(pe, conn); err != nil {
			s.log("connection of PE %d: %v", pe, err)
		}
	}
}

// greet returns the PE that is at the other end of conn.
func (s *Server) greet(conn Conn) (pe int, err error) {
	if err := conn.SetDeadline(time.Now().Add(greetWait)); err != nil {
		return 0, err
	}
	pe, err = receive(conn, s.job.Secret, s.job.NPEs)
	if err != nil {
		return 0, err
	}
	if pe < s.first || pe >= s.first+len(s.peers) {
		return 0, fmt.Errorf("PE %d of another node; PEs %d to %d are here", pe, s.first, s.first+len(s.peers)-1)
	}
	return pe, conn.SetDeadline(time.Time{})
}

// log tells of something odd, unless it is because the job ends.
func (s *Server) log(format string, args ...any) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if !closed {
		s.job.Log("bootstrap: " + fmt.Sprintf(format, args...))
	}
}

// enterLocked notes a connection of pe; leave tells of its end.
func (s *Server) enterLocked(pe int, conn io.Closer) {
	p := s.peer(pe)
	if p.links == 0 {
		p.settled = make(chan struct{})
	}
	p.links++
	p.open = append(p.open, conn)
}

func (s *Server) leave(pe int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.peer(pe)
	if p.links--; p.links == 0 {
		close(p.settled)
	}
}

// serveGorun answers the requests of a PE in gorun's own protocol.
func (s *Server) serveGorun(pe int, conn Conn) error {
	answer(conn, message{op: opWelcome})
	for {
		m, err := readMessage(conn, maxRequest)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch m.op {
		case opAllgather, opBarrier:
			// Replies wait for the others, but this goroutine goes on reading:
			// an abort, or the PE's end, comes at any time.
			r := s.join(pe, m.op, m.payload)
			go func() {
				<-r.done
				answer(conn, r.reply(m.op))
			}()
		case opFinalize:
			s.finalize(pe)
			answer(conn, message{op: opDone})
			return nil
		case opAbort:
			code, msg, err := parseAbort(m.payload)
			if err != nil {
				return err
			}
			s.job.Abort(pe, code, msg)
			return nil
		default:
			return fmt.Errorf("op %d: %w", m.op, errNotOurs)
		}
	}
}

// answer sends a message. A client that is gone needs none.
func answer(conn io.Writer, m message) { _, _ = conn.Write(m.encode()) }

// finalize notes that pe may end.
func (s *Server) finalize(pe int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.far() && s.finalizedLocked() < 0 {
		s.job.Finalized(pe)
	}
	s.peer(pe).state = Finalized
	if s.round != nil {
		s.breakLocked(finalizedText(pe, s.round.waiting(), s.round.op))
	}
}

// Settle waits until everything that PE pe has sent is handled, given that its
// process has ended, and returns its last state. It waits no longer than wait,
// for others may hold the PE's end of an inherited descriptor.
func (s *Server) Settle(pe int, wait time.Duration) State {
	p := s.peer(pe)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.links > 0 {
		settled := p.settled
		s.mu.Unlock()
		select {
		case <-settled:
		case <-time.After(wait):
		}
		s.mu.Lock()
	}
	return p.state
}

// Close ends all connections.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for len(s.strangers) > 0 {
		s.strangers[0].Close()
		s.strangers = s.strangers[1:]
	}
	if s.round != nil {
		s.endLocked("the job is ending")
	}
	for _, p := range s.peers {
		for _, c := range p.open {
			c.Close()
		}
		p.open = nil
	}
}

// ServePMI1 serves PE pe plain PMI-1 on its inherited socket, of which conn is
// our end, until it closes. The error says what it did wrong: a process that
// breaks the protocol waits for ever, so the job should end.
func (s *Server) ServePMI1(pe int, conn *os.File) error {
	defer conn.Close()
	defer s.leave(pe)
	return s.servePMI1(pe, conn)
}

// ExpectPMI1 notes that PE pe has conn, before its process starts, so that
// Settle waits for what comes on it.
func (s *Server) ExpectPMI1(pe int, conn *os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enterLocked(pe, conn)
}
