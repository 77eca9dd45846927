// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// Variables that gorun sets in the environment of a PE. They are internal: any
// version may change them, and a nested gorun drops those it inherits.
const (
	EnvPE      = "GORUN_JOB_PE"         // the PE's number
	EnvNPEs    = "GORUN_JOB_NPES"       // PEs of the job
	EnvAddr    = "GORUN_JOB_ADDR"       // host:port of the bootstrap server
	EnvID      = "GORUN_JOB_ID"         // the job's random name, hexadecimal
	EnvSecret  = "GORUN_JOB_SECRET_FD"  // a pipe with the job's secret, to be read once; see SecretPipe
	EnvSegment = "GORUN_JOB_SEGMENT_FD" // the node's shared file
	EnvCores   = "GORUN_JOB_CORES"      // the node's cores, comma-separated; see Client.Cores
	EnvSource  = "GORUN_JOB_SOURCE"     // this node's IP address for the fabric; see Client.Source

	// EnvPrefix starts the names of all of them.
	EnvPrefix = "GORUN_JOB_"
)

const (
	// handshakeWait bounds the client's whole handshake: many PEs may start at
	// once on few cores.
	handshakeWait = 30 * time.Second

	// secretWait bounds the wait for the secret, which gorun has written
	// before the PE starts: a pipe that stays silent is another one.
	secretWait = 5 * time.Second

	// attempts is how often a client greets a server that hangs up on it: the
	// server drops the oldest of too many greeters, which a slow PE may be.
	attempts = 3
)

// fromGorun connects to the gorun that the environment tells of.
func fromGorun(lookup lookup) (*Client, error) {
	npes, err := number(lookup, EnvNPEs, 1, 1<<31-1)
	if err != nil {
		return nil, err
	}
	pe, err := number(lookup, EnvPE, 0, npes-1)
	if err != nil {
		return nil, err
	}
	cores, err := coresFrom(lookup)
	if err != nil {
		return nil, err
	}
	source, _ := lookup(EnvSource)
	if _, err := netip.ParseAddr(source); err != nil && source != "" {
		return nil, fmt.Errorf("%s=%.60q: want an IP address", EnvSource, source)
	}
	addr, _ := lookup(EnvAddr)
	pipe, _ := lookup(EnvSecret)
	secret, err := readSecret(pipe)
	if err != nil {
		return nil, fmt.Errorf("read the job's secret (%s=%.40s): %w; only the process that gorun has started can be a PE, once, and not a child of it", EnvSecret, pipe, err)
	}
	var segment *os.File
	if _, ok := lookup(EnvSegment); ok {
		fd, err := number(lookup, EnvSegment, 3, 1<<20)
		if err != nil {
			return nil, err
		}
		if segment, err = inherit(fd, "goshmem-segment"); err != nil {
			return nil, fmt.Errorf("file descriptor %d (%s): %w", fd, EnvSegment, err)
		}
	}
	if fd, err := number(lookup, envPMIFD, 3, 1<<20); err == nil {
		closeOnExec(fd) // not for children of this PE
	}
	c, err := joinGorun(addr, secret, pe, npes)
	if err != nil {
		if segment != nil {
			segment.Close()
		}
		return nil, err
	}
	c.segment = segment
	c.source = source
	c.cores = cores
	return c, nil
}

// joinGorun joins the job whose server is at addr, as PE pe of npes.
func joinGorun(addr string, secret [SecretSize]byte, pe, npes int) (*Client, error) {
	conn, err := dialGorun(addr, secret, pe, npes)
	if err != nil {
		return nil, fmt.Errorf("PE %d: join the job at %s: %w", pe, addr, err)
	}
	r := bufio.NewReader(conn)
	x := newExchange(conn, func() (message, error) { return readMessage(r, tableLimit(npes)) })
	return &Client{
		link:     &gorunLink{x: x, npes: npes},
		pe:       pe,
		npes:     npes,
		launcher: "gorun",
		lost:     x.lost,
	}, nil
}

func dialGorun(addr string, secret [SecretSize]byte, pe, npes int) (*os.File, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(handshakeWait)
	for attempt := 1; ; attempt++ {
		conn, err := dial(to, deadline)
		if err != nil {
			return nil, err
		}
		err = greet(conn, secret, pe, npes)
		if err == nil {
			return conn, conn.SetDeadline(time.Time{})
		}
		conn.Close()
		var refused refusal
		if errors.As(err, &refused) || errors.Is(err, errBadProof) || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, err
		}
		if attempt == attempts {
			return nil, fmt.Errorf("the launcher hung up %d times (%w); are the program and gorun built from the same goshmem?", attempts, err)
		}
	}
}

// SecretPipe returns the value of EnvSecret for a pipe that a PE inherits as
// fd. The pipe's inode number tells it from whatever else has the descriptor
// by then: in a child of the PE, or once the PE has read the secret.
func SecretPipe(fd int, inode uint64) string { return fmt.Sprintf("%d:%d", fd, inode) }

// readSecret reads the secret, and closes the pipe that held it.
func readSecret(pipe string) (secret [SecretSize]byte, err error) {
	var fd int
	var inode uint64
	if n, _ := fmt.Sscanf(pipe, "%d:%d", &fd, &inode); n != 2 || fd < 3 {
		return secret, errors.New("want descriptor:inode, as a gorun of the same goshmem gives it")
	}
	if got, err := inodeOf(fd); err != nil || got != inode {
		return secret, fmt.Errorf("file descriptor %d is not the launcher's pipe", fd)
	}
	f, err := inherit(fd, "secret")
	if err != nil {
		return secret, err
	}
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(secretWait)); err != nil {
		return secret, err
	}
	b, err := io.ReadAll(io.LimitReader(f, SecretSize+1))
	if err != nil {
		return secret, err
	}
	if len(b) != SecretSize {
		return secret, fmt.Errorf("it gave %d bytes, want %d and the end", len(b), SecretSize)
	}
	return [SecretSize]byte(b), nil
}

// coresFrom reads the numbers of the node's cores; nil: not told.
func coresFrom(lookup lookup) (cores []int, err error) {
	s, ok := lookup(EnvCores)
	if !ok {
		return nil, nil
	}
	for text := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n >= maxCores || len(cores) >= maxCores {
			return nil, fmt.Errorf("%s=%.60q: want numbers of cores", EnvCores, s)
		}
		cores = append(cores, n)
	}
	return cores, nil
}

// maxCores bounds the numbers of cores.
const maxCores = 1 << 16

// number reads a decimal number in [low, high] from the environment.
func number(lookup lookup, name string, low, high int) (int, error) {
	s, ok := lookup(name)
	if !ok {
		return 0, fmt.Errorf("%s is not set", name)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s=%.40q: want a number from %d to %d", name, s, low, high)
	}
	return n, nil
}

// A gorunLink speaks gorun's own protocol.
type gorunLink struct {
	x    *exchange[message]
	npes int
}

func (l *gorunLink) call(request message, want byte) ([]byte, error) {
	m, err := l.x.call(request.encode())
	return reply(m, err, want)
}

// reply returns the payload of m if it is the reply that was wanted.
func reply(m message, err error, want byte) ([]byte, error) {
	switch {
	case err != nil:
		return nil, err
	case m.op == opRefused:
		return nil, refusal(m.payload)
	case m.op != want:
		return nil, fmt.Errorf("op %d for a reply, want %d", m.op, want)
	}
	return m.payload, nil
}

func (l *gorunLink) Allgather(blob []byte) ([][]byte, error) {
	if len(blob) > MaxBlob {
		return nil, fmt.Errorf("pmi: allgather of %d bytes, at most %d allowed", len(blob), MaxBlob)
	}
	table, err := l.call(message{opAllgather, blob}, opTable)
	if err != nil {
		return nil, fmt.Errorf("pmi: allgather: %w", err)
	}
	blobs, err := parseTable(table, l.npes)
	if err != nil {
		return nil, fmt.Errorf("pmi: allgather: %w", err)
	}
	return blobs, nil
}

func (l *gorunLink) Barrier() error {
	if _, err := l.call(message{op: opBarrier}, opDone); err != nil {
		return fmt.Errorf("pmi: barrier: %w", err)
	}
	return nil
}

func (l *gorunLink) Abort(code int, msg string) error {
	if err := l.x.abort(message{opAbort, abortPayload(code, msg)}.encode()); err != nil {
		return fmt.Errorf("pmi: abort: %w", err)
	}
	return nil
}

func (l *gorunLink) Finalize() error {
	m, err := l.x.finish(message{op: opFinalize}.encode())
	if _, err := reply(m, err, opDone); err != nil {
		return fmt.Errorf("pmi: finalize: %w", err)
	}
	return nil
}
