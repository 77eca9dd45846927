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
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/launcher/pmi"
)

const (
	stopGrace      = time.Second            // from SIGTERM to SIGKILL, after a failure
	abortGrace     = 500 * time.Millisecond // the same, after a PE has asked for the end
	interruptGrace = 5 * time.Second        // from the user's signal to SIGKILL
	interruptAgain = 100 * time.Millisecond // a second signal within is the same one
	proxyGrace     = 5 * time.Second        // from SIGKILL of the PEs to that of the proxy
)

// A run is a job that runs.
type run struct {
	job    Job
	proxy  int // process number
	begun  time.Time
	down   link
	frames <-chan frame
	out    *output
	judge  *judge
	pes    []peOutput

	failure *verdict // why the job could not be started, or was lost
	bye     bool     // the proxy has said that nothing is left

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
	if err := CheckNPEs(job.NPEs); err != nil {
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
	r := &run{job: job, judge: newJudge(), pes: make([]peOutput, job.NPEs)}
	for i := range r.pes {
		for stream := range r.pes[i].labels {
			r.pes[i].labels[stream].pe = i
		}
	}
	if err := r.start(); err != nil {
		fmt.Fprintf(os.Stderr, "gorun: %v\n", err)
		return StatusError
	}
	r.out = newOutput(os.Stdout, os.Stderr, func(n int64) { r.down.send(frame{kind: frameCredit, n: n}) })
	r.watch(signals)
	r.reapProxy(spare)
	return r.finish()
}

// start starts the proxy and gives it the job.
func (r *run) start() error {
	// When the proxy is gone, what it leaves becomes ours to kill.
	if err := adoptOrphans(); err != nil {
		return err
	}
	r.begun = time.Now()
	shared := isTerminal(0)
	spec, err := r.spec(shared)
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
		return err
	}
	defer out.Close()
	r.proxy, err = syscall.ForkExec("/proc/self/exe", []string{os.Args[0], proxyArg}, &syscall.ProcAttr{
		Env: os.Environ(),
		Files: []uintptr{
			0: in.Fd(), 1: out.Fd(), 2: 2,
			fdProxyStdin: 0, fdProxyStdout: 1,
		},
		Sys: &syscall.SysProcAttr{Setpgid: !shared},
	})
	if err != nil {
		return fmt.Errorf("start the proxy: %w", err)
	}
	r.down.w = toProxy
	frames := make(chan frame, 16)
	r.frames = frames
	go func() {
		defer close(frames)
		reader := bufio.NewReaderSize(fromProxy, 2*maxOutput)
		for {
			f, err := readFrame(reader)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					unix.Kill(r.proxy, unix.SIGKILL) // it can't be talked to
				}
				return
			}
			frames <- f
		}
	}()
	r.down.send(frame{kind: frameJob, data: spec})
	return nil
}

// spec returns the proxy's part of the job.
func (r *run) spec(shared bool) ([]byte, error) {
	var id [8]byte
	rand.Read(id[:]) // never fails
	secret := make([]byte, pmi.SecretSize)
	rand.Read(secret)
	return json.Marshal(nodeJob{
		ID:      hex.EncodeToString(id[:]),
		Secret:  secret,
		Path:    []byte(r.job.Path),
		Args:    toBytes(r.job.Args),
		Env:     toBytes(baseEnv(r.job.Env)),
		Dir:     []byte(r.job.Dir),
		Remove:  toBytes(r.job.Remove),
		PEs:     r.job.NPEs,
		NPEs:    r.job.NPEs,
		Heap:    r.job.Heap,
		Label:   r.job.Label,
		Bind:    r.job.Bind,
		Shared:  shared,
		Verbose: r.job.Verbose,
	})
}

// watch handles what happens until the proxy is gone.
func (r *run) watch(signals <-chan os.Signal) {
	for {
		select {
		case f, ok := <-r.frames:
			if !ok {
				return
			}
			r.handle(f)
		case s := <-signals:
			r.signal(s.(unix.Signal))
		case err := <-r.out.failed:
			v := verdict{StatusError, fmt.Sprintf("standard output: %v", err), nobody}
			if errors.Is(err, unix.EPIPE) {
				v = verdict{StatusSignal + int(unix.SIGPIPE), "", nobody}
			}
			r.stop(v, stopGrace)
		case <-r.timeout:
			r.urgent = true
			r.stop(verdict{StatusTimeout, fmt.Sprintf("the job has taken longer than %v (--timeout)", r.job.Timeout), nobody}, stopGrace)
		case <-r.kill:
			r.kill = nil
			r.down.send(frame{kind: frameKill})
			r.giveUp = time.After(proxyGrace)
		case <-r.giveUp:
			unix.Kill(r.proxy, unix.SIGKILL)
		}
	}
}

// handle handles a frame of the proxy.
func (r *run) handle(f frame) {
	if f.pe >= r.job.NPEs {
		f.pe = 0 // not from our proxy; whatever it says is no reason to crash
	}
	switch f.kind {
	case frameHello:
		if f.n != linkVersion {
			r.failure = &verdict{StatusError, fmt.Sprintf("the proxy is of another version (%d, want %d)", f.n, linkVersion), nobody}
			r.killAfter(0)
		}
	case frameStarted:
		r.log("%d PEs run, %v after gorun has started the proxy (process %d)", f.n, time.Since(r.begun).Round(time.Microsecond), r.proxy)
		if r.job.Timeout > 0 {
			r.timeout = time.After(r.job.Timeout)
		}
	case frameFailed:
		r.failure = &verdict{int(f.n), string(f.data), nobody}
	case frameOutput:
		r.output(f)
	case frameJoined:
		if r.judge.join(f.pe) {
			r.terminate(stopGrace)
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
		r.stop(verdict{StatusError, fmt.Sprintf("PE %d: %s", f.pe, f.data), f.pe}, stopGrace)
	case frameNotice:
		r.say(string(f.data))
	case frameBye:
		r.bye = true
	}
}

// output queues output of a PE.
func (r *run) output(f frame) {
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
	r.out.add(stream, text, len(f.data))
}

// stop ends the job because of v, unless it is ending.
func (r *run) stop(v verdict, grace time.Duration) {
	if r.judge.rule(v) {
		r.terminate(grace)
	}
}

// terminate ends all PEs, by force after grace.
func (r *run) terminate(grace time.Duration) {
	r.down.send(frame{kind: frameStop, n: int64(unix.SIGTERM)})
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
		} else if time.Since(r.interrupted) > interruptAgain {
			r.killAfter(0)
		}
	}
	r.down.send(frame{kind: frameSignal, n: int64(s)})
	if s == unix.SIGTSTP {
		// Whoever waits for us, such as a shell, is to see us stopped.
		unix.Kill(os.Getpid(), unix.SIGSTOP)
	}
}

// reapProxy waits for the proxy's end. If it did not say that nothing is left,
// its children are ours now, and killed.
func (r *run) reapProxy(spare map[int]bool) {
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(r.proxy, &status, 0, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if r.bye {
		return
	}
	if r.failure == nil && r.judge.verdict == nil {
		how := fmt.Sprintf("exited with status %d", status.ExitStatus())
		if status.Signaled() {
			how = fmt.Sprintf("was killed by signal %d (%v)", status.Signal(), status.Signal())
		}
		r.failure = &verdict{StatusLostNode, fmt.Sprintf("the proxy (process %d) %s: its PEs are lost", r.proxy, how), nobody}
	}
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
			r.out.add(stream, r.pes[i].labels[stream].flush(nil), 0)
		}
	}
	v := r.judge.verdict
	if r.failure != nil {
		v = r.failure
	}
	if v == nil {
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
func (r *run) say(text string) { r.out.add(2, []byte("gorun: "+text+"\n"), 0) }

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// CheckNPEs reports why a node can't have n PEs.
func CheckNPEs(n int) error {
	const (
		perPE = 4  // two streams, a PMI-1 socket, a bootstrap connection
		other = 64 // whatever the number of PEs
	)
	if n < 1 || n > maxPEs {
		return fmt.Errorf("%d PEs: want 1 to %d", n, maxPEs)
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
