// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/goshmem/goshmem/launcher/pmi"
)

// A verdict says why a job ends, and with which status.
type verdict struct {
	status int
	reason string // empty: there is nothing to say
	pe     int    // the PE whose last words tell more, or nobody
}

const nobody = -1

// A judge finds out what ends a job. The first cause decides: whatever happens
// to the other PEs is only its consequence.
type judge struct {
	verdict *verdict // nil: nothing so far
	joined  int      // a PE that has called Init, or nobody
	foreign int      // a PE that has ended well without Init, or nobody

	host func(pe int) string // what to say before a PE's name
}

func newJudge(host func(pe int) string) *judge {
	return &judge{joined: nobody, foreign: nobody, host: host}
}

// name names a PE, and its host if there are several.
func (j *judge) name(pe int) string { return fmt.Sprintf("%sPE %d", j.host(pe), pe) }

// rule notes a cause, and reports whether it is the first.
func (j *judge) rule(v verdict) bool {
	if j.verdict != nil {
		return false
	}
	j.verdict = &v
	return true
}

// join notes that pe has called Init, and reports whether that ends the job.
func (j *judge) join(pe int) bool {
	if j.joined == nobody {
		j.joined = pe
	}
	return j.mixed()
}

// exit notes the end of a PE with exit code n, or −signal, and reports whether
// that ends the job.
//
// A program that never calls Init is no SHMEM program and may end as it likes,
// with status 0. One that does must call Finalize before it ends, and so must
// all PEs of its job: the others would wait for it for ever.
func (j *judge) exit(pe int, n int, state pmi.State) bool {
	switch {
	case n < 0:
		signal := syscall.Signal(-n)
		return j.rule(verdict{StatusSignal - n, fmt.Sprintf("%s was killed by signal %d (%v)", j.name(pe), signal, signal), pe})
	case n > 0:
		return j.rule(verdict{n, fmt.Sprintf("%s exited with status %d", j.name(pe), n), pe})
	case state == pmi.Inside:
		return j.rule(verdict{StatusError, j.name(pe) + " ended with status 0 without Finalize after Init", pe})
	case state == pmi.Outside && j.foreign == nobody:
		j.foreign = pe
	}
	return j.mixed()
}

// mixed rules that either all PEs call Init or none does.
func (j *judge) mixed() bool {
	if j.joined == nobody || j.foreign == nobody {
		return false
	}
	return j.rule(verdict{StatusError, fmt.Sprintf("%s ended with status 0 without Init, which PE %d has called", j.name(j.foreign), j.joined), j.foreign})
}

// abort notes that pe has asked for the job's end.
func (j *judge) abort(pe, code int, msg string) {
	v := verdict{status: code & 0xff, pe: nobody}
	if v.status == 0 && code != 0 {
		v.status = StatusError // 256 is no success
	}
	switch {
	case msg != "":
		v.reason = fmt.Sprintf("%s ended the job with status %d: %s", j.name(pe), code, msg)
	case code != 0:
		v.reason = fmt.Sprintf("%s ended the job with status %d", j.name(pe), code)
	}
	j.rule(v)
}

// explain returns the last line that gorun writes, or "".
func (v verdict) explain(words func(pe int) *lastWords) string {
	if v.pe == nobody {
		return v.reason
	}
	text, panicked := words(v.pe).quote(v.status)
	reason := v.reason
	if panicked {
		reason += " (Go panic or fatal error)"
	}
	if text == "" {
		return reason
	}
	if v.status == StatusNotFound && strings.Contains(text, "libfabric.so") { // says the dynamic linker
		reason += " (the program needs libfabric, which is not installed there: apt-get install -y libfabric1)"
	}
	return fmt.Sprintf("%s; its last words: %q", reason, text)
}
