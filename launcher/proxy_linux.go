// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/launcher/pmi"
)

const (
	// proxyArg is the hidden first argument of a proxy.
	proxyArg = "__proxy"

	// File descriptors of a proxy that is on the launcher's node.
	fdProxyStdin  = 3 // the launcher's standard input, for PE 0
	fdProxyStdout = 4 // the launcher's standard output

	// settleWait bounds the wait for what a PE has written before its end; a
	// process that it has left may hold the other ends.
	settleWait = 100 * time.Millisecond
)

// IsProxy reports whether a process with these arguments (os.Args) is to be a
// proxy, and so to call [Proxy].
func IsProxy(args []string) bool { return len(args) == 2 && args[1] == proxyArg }

// A proxy runs the PEs of a node for a launcher.
type proxy struct {
	up     link       // frames to the launcher
	broken chan error // why its frames can't be read, before their channel is closed; cap 1
	credit *credit
	job    nodeJob
	source netip.Addr // where other nodes reach this one; not valid: there are none
	beat   *net.UDPConn
	server *pmi.Server
	rounds *outbox // for up, from the server; nil: there are no other nodes
	table  joiner  // of rounds of all nodes
	input  *outbox // standard input of PE 0, if it comes as frames

	mu      sync.Mutex // held while children are reaped or signalled: no number is used twice
	pes     []*pe
	byPID   map[int]*pe
	killing bool

	draining atomic.Bool
	told     sync.WaitGroup // PEs whose end the launcher has not been told of
	pumps    sync.WaitGroup // streams that are being read
	reaped   chan struct{}  // closed when no child is left
}

// A pe is one of a proxy's PEs.
type pe struct {
	number int
	process
	alive  bool          // guarded by proxy.mu
	silent chan struct{} // closed when its standard error has ended
}

// Proxy runs this process as the proxy of a node, for the launcher at its
// standard input and output, and returns its exit status.
func Proxy() int {
	runtime.LockOSThread() // of the PEs' parent; it lives as long as this process
	p := &proxy{broken: make(chan error, 1), credit: newCredit(outputWindow), byPID: make(map[int]*pe), reaped: make(chan struct{})}
	frames, err := p.connect()
	if err != nil {
		fmt.Fprintf(os.Stderr, "gorun: proxy: %v\n", err)
		return StatusError
	}
	p.up.send(frame{kind: frameHello, n: linkVersion})
	first, ok := <-frames
	if !ok {
		p.reportBroken()
		return StatusError // there is nothing to do
	}
	if first.kind != frameJob {
		err = fmt.Errorf("frame %d from the launcher, want a job", first.kind)
	} else {
		err = json.Unmarshal(first.data, &p.job)
	}
	if err == nil {
		// Before the first PE: PE 0 may be at the terminal, too.
		witness := p.watchSignals()
		if err = p.joinNetwork(frames); err == nil {
			err = p.start()
		}
		go p.reap()
		if err == nil {
			p.serve(frames, witness)
		}
	} else {
		close(p.reaped)
	}
	if err != nil && !errors.Is(err, errEnded) {
		var failed startFailure
		if !errors.As(err, &failed) {
			failed = startFailure{err.Error(), StatusError}
		}
		p.up.send(frame{kind: frameFailed, n: int64(failed.status), data: []byte(failed.text)})
	}
	p.reportBroken()
	p.end()
	if p.rounds != nil {
		<-p.rounds.flushed()
	}
	p.up.send(frame{kind: frameBye})
	if p.beat != nil {
		for range frames { // as long as other nodes need us as a witness
		}
	}
	return StatusOK
}

// A startFailure says why the job could not be started.
type startFailure struct {
	text   string
	status int
}

func (f startFailure) Error() string { return f.text }

// reportBroken tells the launcher that its frames can't be read, if that is so:
// it may still be there, and take the end for a good one.
func (p *proxy) reportBroken() {
	select {
	case err := <-p.broken:
		p.up.send(frame{kind: frameFailed, n: StatusError, data: []byte("link: " + err.Error())})
	default:
	}
}

// connect takes standard input and output for the link, so that nothing else
// uses them, and reads frames from then on. The channel is closed when the
// launcher is gone, or can't be understood.
func (p *proxy) connect() (<-chan frame, error) {
	// A launcher that is gone must not kill us by SIGPIPE: others are to be
	// cleaned up. PEs get their default action back.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE, unix.SIGTTIN, unix.SIGTTOU)
	if err := adoptOrphans(); err != nil {
		return nil, err
	}
	var fd [2]int
	for i := range fd {
		var err error
		if fd[i], err = unix.FcntlInt(uintptr(i), unix.F_DUPFD_CLOEXEC, 16); err != nil {
			return nil, fmt.Errorf("link: %w", err)
		}
	}
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer unix.Close(null)
	if err := errors.Join(unix.Dup3(null, 0, 0), unix.Dup3(2, 1, 0)); err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	for _, inherited := range []int{fdProxyStdin, fdProxyStdout} {
		unix.CloseOnExec(inherited) // if it is there: an agent may pass on none
	}
	in, err := ours(fd[0], "link")
	if err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	p.up.w = os.NewFile(uintptr(fd[1]), "link")
	frames := make(chan frame, 16)
	go func() {
		defer close(frames)
		defer p.credit.close()
		r := bufio.NewReader(in)
		for {
			f, err := readFrame(r)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					p.broken <- err
				}
				return
			}
			if f.kind == frameCredit {
				p.credit.give(f.n)
				continue
			}
			frames <- f
		}
	}()
	return frames, nil
}

// start starts the bootstrap server and all PEs.
func (p *proxy) start() error {
	var secret [pmi.SecretSize]byte
	if copy(secret[:], p.job.Secret) != len(secret) {
		return fmt.Errorf("a job's secret of %d bytes, want %d", len(p.job.Secret), len(secret))
	}
	var joined sync.Once
	job := pmi.Job{
		NPEs:   p.job.NPEs,
		ID:     p.job.ID,
		Secret: secret,
		Joined: func(pe int) {
			joined.Do(func() { p.up.send(frame{kind: frameJoined, pe: pe}) })
		},
		Abort: func(pe, code int, msg string) {
			p.up.send(frame{kind: frameAbort, pe: pe, n: int64(code), data: []byte(msg)})
		},
		Notice: p.notice,
		Log:    p.log,
	}
	if len(p.job.Nodes) > 1 {
		p.joinRounds(&job)
	}
	p.server = pmi.NewServer(job)
	if p.job.Fed {
		if err := CheckNPEs(p.job.PEs); err != nil { // with this host's limits
			return startFailure{err.Error(), StatusUsage}
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("bootstrap server: %w", err)
	}
	go accept(listener, p.server, p.log)
	s, err := newStarter(&p.job, listener.Addr().String())
	if err != nil {
		return err
	}
	defer s.end()
	if p.source.IsValid() {
		s.source = p.source.String()
	}
	if p.job.Fed && p.job.First == 0 {
		end, err := p.feed()
		if err != nil {
			return err
		}
		defer unix.Close(end)
		s.stdin = end
	}
	for i := range p.job.PEs {
		number := p.job.First + i
		process, err := s.start(i)
		if err != nil {
			text, status := startError(&p.job, number, err)
			return startFailure{text, status}
		}
		p.adopt(number, process)
	}
	for _, path := range toStrings(p.job.Remove) {
		os.RemoveAll(path)
	}
	p.up.send(frame{kind: frameStarted, n: int64(p.job.PEs)})
	return nil
}

// adopt watches a PE that has been started.
func (p *proxy) adopt(number int, process process) {
	e := &pe{number: number, process: process, alive: true, silent: make(chan struct{})}
	p.mu.Lock()
	p.pes = append(p.pes, e)
	p.byPID[e.pid] = e
	p.mu.Unlock()
	p.told.Add(1)
	p.server.ExpectPMI1(number, e.pmi)
	go func() {
		if err := p.server.ServePMI1(number, e.pmi); err != nil {
			p.up.send(frame{kind: frameBroken, pe: number, data: []byte(err.Error())})
		}
	}()
	p.pumps.Go(func() {
		defer close(e.silent)
		p.pump(number, 2, e.stderr)
	})
	if e.stdout != nil {
		p.pumps.Go(func() { p.pump(number, 1, e.stdout) })
	}
	if p.job.Verbose {
		p.log(fmt.Sprintf("PE %d is process %d", number, e.pid))
	}
}

// notice tells the user something.
func (p *proxy) notice(text string) { p.up.send(frame{kind: frameNotice, data: []byte(text)}) }

// log does so with -v.
func (p *proxy) log(text string) {
	if p.job.Verbose {
		p.notice(text)
	}
}

// pump passes on a PE's stream until it ends. Once no process is left that
// could write, it ends when there is nothing more to read.
func (p *proxy) pump(number, stream int, f *os.File) {
	defer f.Close()
	defer p.up.send(frame{kind: frameOutput, pe: number, n: int64(stream)})
	buf := make([]byte, maxOutput)
	for {
		draining := p.draining.Load()
		if draining {
			f.SetReadDeadline(time.Now().Add(settleWait))
		}
		n, err := f.Read(buf)
		if n > 0 {
			p.credit.take(n)
			p.up.send(frame{kind: frameOutput, pe: number, n: int64(stream), data: buf[:n]})
		}
		if err != nil && (draining || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return
		}
	}
}

// reap reaps children until none is left: PEs, and what they have left.
func (p *proxy) reap() {
	defer close(p.reaped)
	for awaitChild() {
		p.mu.Lock()
		for {
			pid, n, ok := reapChild()
			if !ok {
				break
			}
			if e := p.byPID[pid]; e != nil && e.alive {
				e.alive = false
				go p.tell(e, n)
			}
		}
		if p.killing {
			killChildren(nil)
		}
		p.mu.Unlock()
	}
}

// tell tells the launcher of a PE's end, after all that the PE has written and
// sent before.
func (p *proxy) tell(e *pe, n int) {
	defer p.told.Done()
	select {
	case <-e.silent:
	case <-time.After(settleWait):
	}
	state := p.server.Settle(e.number, settleWait)
	p.up.send(frame{kind: frameExit, pe: e.number, n: int64(n), data: []byte{byte(state)}})
}

// serve obeys the launcher until all PEs have ended, or are to be killed.
func (p *proxy) serve(frames <-chan frame, witness *witness) {
	ended := make(chan struct{})
	go func() {
		p.told.Wait()
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return
		case s := <-witness.signals:
			witness.see(s.(unix.Signal))
		case s := <-witness.overdue:
			p.signal(s)
		case f, ok := <-frames:
			if !ok {
				return
			}
			switch f.kind {
			case frameSignal:
				if s := unix.Signal(f.n); p.job.Shared {
					witness.forward(s)
				} else {
					p.signal(s)
				}
			case frameStop:
				// A stopped process does not end before it goes on.
				p.signal(unix.Signal(f.n))
				p.signal(unix.SIGCONT)
			case frameKill:
				return
			default:
				p.obey(f)
			}
		}
	}
}

// signal sends a signal to all PEs, and to the processes they have started.
func (p *proxy) signal(s unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.pes {
		switch {
		case !e.alive:
		case p.job.Shared:
			unix.Kill(e.pid, s)
		default:
			unix.Kill(-e.pid, s)
		}
	}
}

// end kills all that is left, and returns when nothing is.
func (p *proxy) end() {
	p.mu.Lock()
	p.killing = true
	killChildren(nil)
	p.mu.Unlock()
	<-p.reaped
	p.told.Wait()
	// What is left to be read was written by processes that are gone, so it is
	// little; it must not wait for a slow reader.
	p.credit.close()
	p.draining.Store(true)
	for _, e := range p.pes {
		for _, f := range slices.DeleteFunc([]*os.File{e.stdout, e.stderr}, func(f *os.File) bool { return f == nil }) {
			f.SetReadDeadline(time.Now())
		}
	}
	p.pumps.Wait()
	if p.server != nil {
		p.server.Close()
	}
}
