// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/launcher/pmi"
)

// check reports why a job can't be as asked, and sets its number of PEs to that of
// its hosts.
func check(job *Job) error {
	if len(job.Hosts) == 0 {
		return CheckNPEs(job.NPEs)
	}
	job.NPEs = 0
	for _, h := range job.Hosts {
		if h.PEs < 1 || h.PEs > MaxPEs-job.NPEs {
			return fmt.Errorf("%d PEs on host %s: want 1 to %d, and at most %d on all hosts", h.PEs, h.Name, MaxPEs, MaxPEs)
		}
		job.NPEs += h.PEs
	}
	if len(job.Agent) > 0 {
		for _, h := range job.Hosts {
			if _, err := exec.LookPath(agentWord(job.Agent[0], h.Name)); err != nil {
				return fmt.Errorf("agent (--launcher-exec): %w", err)
			}
		}
		return nil
	}
	hostname, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("name of this host: %w", err)
	}
	for _, h := range job.Hosts {
		if !isThisHost(h.Name, hostname) {
			return fmt.Errorf("host %s is not this machine, and gorun can't use ssh yet: give a command that starts another one there, such as --launcher-exec 'ip netns exec %s'", h.Name, AgentHost)
		}
	}
	return CheckNPEs(job.NPEs)
}

// CheckNPEs reports why a node can't have n PEs.
func CheckNPEs(n int) error {
	const (
		perPE = 4  // two streams, a PMI-1 socket, a bootstrap connection
		other = 64 // whatever the number of PEs
	)
	if n < 1 || n > MaxPEs {
		return fmt.Errorf("%d PEs: want 1 to %d", n, MaxPEs)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil // then see how far we get
	}
	if need := uint64(n*perPE + other); need > limit.Cur {
		return fmt.Errorf("%d PEs need %d file descriptors, but the limit is %d (ulimit -Hn), enough for %d PEs",
			n, need, limit.Cur, (max(limit.Cur, other)-other)/perPE)
	}
	return nil
}

// direct reports whether the only node's PEs can have our standard input and
// output; else these come and go as frames.
func (r *run) direct() bool { return len(r.nodes) == 1 && len(r.job.Agent) == 0 }

// start starts the proxies and gives them the job.
func (r *run) start() error {
	// When a proxy is gone, what it leaves becomes ours to kill.
	if err := adoptOrphans(); err != nil {
		return err
	}
	r.begun = time.Now()
	r.shared = r.direct() && isTerminal(0)
	spec, err := r.spec()
	if err != nil {
		return err
	}
	if len(r.nodes) > 1 {
		r.hub = pmi.NewHub(spec.Nodes)
		r.vigil = newVigil(len(r.nodes))
	}
	if !r.direct() {
		r.input = newCredit(inputWindow)
		r.answer = time.After(startWait)
	}
	for _, n := range r.nodes {
		spec.Node, spec.First, spec.PEs = n.index, n.first, n.pes
		data, err := json.Marshal(spec)
		if err != nil {
			return err
		}
		f := frame{kind: frameJob, data: data}
		if err := f.check(); err != nil {
			return fmt.Errorf("the job, with its arguments and environment: %w", err)
		}
		n.round.limit = pmi.RoundLimit(n.pes)
		if err := r.launch(n); err != nil {
			return fmt.Errorf("%s%w", r.onHost(n), err)
		}
		n.down.send(f)
	}
	return nil
}

// spec returns what the proxies learn of the job, without what differs.
func (r *run) spec() (*nodeJob, error) {
	var id [8]byte
	rand.Read(id[:]) // never fails
	secret := make([]byte, pmi.SecretSize)
	rand.Read(secret)
	j := &nodeJob{
		ID:      hex.EncodeToString(id[:]),
		Secret:  secret,
		Path:    []byte(r.job.Path),
		Args:    toBytes(r.job.Args),
		Env:     toBytes(baseEnv(r.job.Env)),
		Dir:     []byte(r.job.Dir),
		NPEs:    r.job.NPEs,
		Iface:   r.job.Iface,
		Heap:    r.job.Heap,
		Piped:   r.job.Label || !r.direct(),
		Fed:     !r.direct(),
		Bind:    r.job.Bind,
		Shared:  r.shared,
		Verbose: r.job.Verbose,
	}
	for _, n := range r.nodes {
		j.Nodes = append(j.Nodes, n.pes)
		j.Hosts = append(j.Hosts, n.host)
	}
	if r.direct() {
		j.Remove = toBytes(r.job.Remove)
		return j, nil
	}
	dir, err := filepath.Abs(r.job.Dir) // agents start proxies where they like
	if err != nil {
		return nil, err
	}
	j.Dir = []byte(dir)
	return j, nil
}

// proxyCommand returns the command that starts a node's proxy.
func (r *run) proxyCommand(n *node) (path string, args []string, err error) {
	if len(r.job.Agent) == 0 {
		return "/proc/self/exe", []string{os.Args[0], proxyArg}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("path of gorun: %w", err)
	}
	for _, word := range r.job.Agent {
		args = append(args, agentWord(word, n.host))
	}
	if path, err = exec.LookPath(args[0]); err != nil {
		return "", nil, fmt.Errorf("agent %s: %w", args[0], errors.Unwrap(err))
	}
	return path, append(args, self, proxyArg), nil
}

// agentWord returns a word of an agent for a host.
func agentWord(word, host string) string { return strings.ReplaceAll(word, AgentHost, host) }

// launch starts a node's proxy, whose frames become events.
func (r *run) launch(n *node) error {
	path, args, err := r.proxyCommand(n)
	if err != nil {
		return err
	}
	in, toProxy, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	fromProxy, out, err := os.Pipe()
	if err != nil {
		toProxy.Close()
		return err
	}
	defer out.Close()
	files := []uintptr{0: in.Fd(), 1: out.Fd(), 2: 2}
	if r.direct() {
		files = append(files, 0, 1) // fdProxyStdin and fdProxyStdout
	}
	n.group = !r.shared
	n.pid, err = syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: files,
		Sys:   &syscall.SysProcAttr{Setpgid: n.group},
	})
	if err != nil {
		toProxy.Close()
		fromProxy.Close()
		return fmt.Errorf("start the %s: %w", r.proxyName(), err)
	}
	n.out = newOutbox(toProxy, nil)
	n.down.w = n.out
	go r.follow(n, fromProxy)
	return nil
}

// follow turns what a node's proxy sends, and its end, into events. The end is
// complete when the process that we have started is gone and nobody holds the
// link any more: an agent may end before the proxy does, or leave it.
func (r *run) follow(n *node, fromProxy *os.File) {
	e := &ending{}
	gone := make(chan struct{})
	silent := make(chan struct{})
	go func() {
		defer close(silent)
		reader := bufio.NewReaderSize(&lastWill{
			File: fromProxy,
			gone: gone,
			open: func() { r.events <- event{node: n, end: &ending{status: e.status, open: true}} },
		}, 2*maxOutput)
		for {
			f, err := readFrame(reader)
			if err != nil {
				// Who is killed may be so amid a frame.
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
					e.err = err
					n.kill() // it can't be talked to
				}
				return
			}
			r.events <- event{node: n, frame: f}
		}
	}()
	go func() {
		defer close(gone)
		for {
			if _, err := unix.Wait4(n.pid, &e.status, 0, nil); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		fromProxy.SetReadDeadline(time.Now()) // have the reader see that
	}()
	select {
	case <-silent:
		select {
		case <-gone:
		case <-time.After(proxyGrace):
			n.kill()
			<-gone
		}
	case <-gone:
		<-silent
	}
	fromProxy.Close()
	r.events <- event{node: n, end: e}
}

// A lastWill reads what a process has sent to the end, also if another one
// still holds the link when the process is gone. The latter passes the link's
// deadline and closes gone.
type lastWill struct {
	*os.File
	gone  chan struct{}
	open  func()    // called when the link is held, after all that was on its way
	until time.Time // when to wait no longer; zero: the process is there
	held  bool      // open has been called
}

func (l *lastWill) Read(b []byte) (int, error) {
	for {
		select {
		case <-l.gone:
			now := time.Now()
			if l.until.IsZero() {
				l.until = now.Add(proxyGrace)
			}
			deadline := l.until
			if settled := now.Add(settleWait); !l.held && settled.Before(deadline) {
				deadline = settled
			}
			l.SetReadDeadline(deadline)
		default:
		}
		n, err := l.File.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		switch {
		case l.until.IsZero():
			<-l.gone
		case !l.held:
			l.held = true
			l.until = time.Now().Add(proxyGrace)
			l.open()
		default:
			return 0, err
		}
	}
}

// kill kills the proxy, or its agent and what else is in its process group.
func (n *node) kill() {
	if n.group {
		unix.Kill(-n.pid, unix.SIGKILL)
	} else {
		unix.Kill(n.pid, unix.SIGKILL)
	}
}
