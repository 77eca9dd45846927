// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

const (
	// Lengths that we tell PMI-1 clients, a terminating NUL included.
	kvsnameMax = 256
	keylenMax  = 64
	vallenMax  = 1024

	// maxKeysSize bounds what the PEs of a job can make us keep, in bytes.
	maxKeysSize = 256 << 20
)

// servePMI1 reads requests of a PMI-1 client until it has closed.
func (s *Server) servePMI1(pe int, conn io.ReadWriter) error {
	r := lineReader{bufio.NewReader(conn)}
	spawning := false
	for {
		text, err := r.text()
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("PMI-1: %w", err)
		}
		// A spawn takes several lines, which are not of the usual form.
		if spawning = spawning || strings.HasPrefix(text, "mcmd="); spawning {
			if text == "endcmd" {
				spawning = false
				tell(conn, "cmd=spawn_result rc=1 msg=unsupported")
			}
			continue
		}
		l, err := parseLine(text)
		if err != nil {
			return fmt.Errorf("PMI-1: %w", err)
		}
		switch l.cmd {
		case "barrier_in":
			round := s.join(pe, opBarrier, nil)
			go func() {
				<-round.done
				tell(conn, barrierOut(round.problem))
			}()
		case "abort":
			code := 1 // older clients give none
			if _, ok := l.args["exitcode"]; ok {
				if code, err = l.number("exitcode", -1<<31, 1<<31-1); err != nil {
					return fmt.Errorf("PMI-1: %w", err)
				}
			}
			s.job.Abort(pe, code, l.args["message"])
			return nil
		default:
			reply := s.answer(pe, l)
			if reply == "" {
				return fmt.Errorf("PMI-1: request cmd=%.40s is unknown to gorun", l.cmd)
			}
			tell(conn, reply)
		}
	}
}

// tell sends a reply. A client that is gone needs none.
func tell(conn io.Writer, reply string) { _, _ = io.WriteString(conn, reply+"\n") }

func barrierOut(problem string) string {
	if problem != "" {
		return "cmd=barrier_out rc=1 msg=" + strings.ReplaceAll(problem, " ", "_")
	}
	return "cmd=barrier_out rc=0"
}

// answer returns the reply to a request that has one at once, or "" if the
// request is unknown.
func (s *Server) answer(pe int, l line) string {
	switch l.cmd {
	case "init":
		rc := "rc=0"
		if l.args["pmi_version"] != "1" {
			rc = "rc=-1"
		} else if s.enterPMI1(pe) {
			s.job.Joined(pe)
		}
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 " + rc
	case "get_maxes":
		return fmt.Sprintf("cmd=maxes rc=0 kvsname_max=%d keylen_max=%d vallen_max=%d", kvsnameMax, keylenMax, vallenMax)
	case "get_my_kvsname":
		return "cmd=my_kvsname rc=0 kvsname=kvs_gorun_" + s.job.ID
	case "get_universe_size":
		return "cmd=universe_size rc=0 size=" + strconv.Itoa(s.job.NPEs)
	case "get_appnum":
		return "cmd=appnum rc=0 appnum=0"
	case "put":
		return "cmd=put_result " + s.put(l.args["key"], l.args["value"])
	case "get":
		return "cmd=get_result " + s.get(l.args["key"])
	case "finalize":
		s.finalize(pe)
		return "cmd=finalize_ack rc=0"
	case "publish_name":
		return "cmd=publish_result rc=1 msg=unsupported"
	case "unpublish_name":
		return "cmd=unpublish_result rc=1 msg=unsupported"
	case "lookup_name":
		return "cmd=lookup_result rc=1 msg=unsupported"
	}
	return ""
}

// enterPMI1 notes that pe has called Init, and reports whether it is the first
// time: MPI has its sessions, and so may init again.
func (s *Server) enterPMI1(pe int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.peer(pe).state == Outside
	s.peer(pe).state = Inside
	return first
}

func (s *Server) put(key, value string) string {
	if key == "" || len(key) >= keylenMax || len(value) >= vallenMax {
		return fmt.Sprintf("rc=-1 msg=key_of_1_to_%d_and_value_of_at_most_%d_bytes_wanted", keylenMax-1, vallenMax-1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.keepLocked(key, value) {
		return "rc=-1 msg=no_room_for_more_keys"
	}
	if s.far() {
		s.fresh = append(s.fresh, []byte(key), []byte(value))
	}
	return "rc=0"
}

// keepLocked keeps a key, and reports whether there is room for it.
func (s *Server) keepLocked(key, value string) bool {
	const head = 2 * 4 // of the two, when they are sent
	if s.keysSize += head + len(key) + len(value); s.keysSize > maxKeysSize {
		return false
	}
	s.keys[key] = value
	return true
}

func (s *Server) get(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.keys[key]
	if !ok {
		return "rc=-1 msg=key_not_found"
	}
	return "rc=0 value=" + value
}
