// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Variables by which PMI-1 process managers tell a task where they are.
const (
	envPMIFD   = "PMI_FD"   // an inherited socket; PMI_RANK and PMI_SIZE come with it
	envPMIPort = "PMI_PORT" // or host:port; PMI_ID comes with it
	envPMIRank = "PMI_RANK"
	envPMISize = "PMI_SIZE"
	envPMIID   = "PMI_ID"
)

// partSize is the most characters of a value that we put: within the limits of
// every server, some of which lose or cut longer values without a word.
const partSize = 900

// fromPMIFD connects to a PMI-1 server by an inherited descriptor.
func fromPMIFD(lookup lookup) (*Client, error) {
	fd, err := number(lookup, envPMIFD, 0, 1<<20)
	if err != nil {
		return nil, err
	}
	size, err := number(lookup, envPMISize, 1, 1<<31-1)
	if err != nil {
		return nil, err
	}
	rank, err := number(lookup, envPMIRank, 0, size-1)
	if err != nil {
		return nil, err
	}
	f, err := inherit(fd, "pmi")
	if err != nil {
		return nil, fmt.Errorf("file descriptor %d (%s): %w; is this process a child of a task?", fd, envPMIFD, err)
	}
	c, err := newPMI1(f, lineReader{bufio.NewReader(f)}, rank, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("rank %d: PMI-1 on file descriptor %d: %w", rank, fd, err)
	}
	return c, nil
}

// fromPMIPort connects to a PMI-1 server by TCP; rank and size come from there.
func fromPMIPort(lookup lookup) (*Client, error) {
	addr, _ := lookup(envPMIPort)
	id, err := number(lookup, envPMIID, 0, 1<<31-1)
	if err != nil {
		return nil, err
	}
	conn, err := dialName(addr)
	if err != nil {
		return nil, fmt.Errorf("PMI-1 server (%s=%.80s): %w", envPMIPort, addr, err)
	}
	r := lineReader{bufio.NewReader(conn)}
	rank, size, err := initack(conn, r, id)
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err == nil {
		var c *Client
		if c, err = newPMI1(conn, r, rank, size); err == nil {
			return c, nil
		}
	}
	conn.Close()
	return nil, fmt.Errorf("task %d: PMI-1 server at %s: %w", id, addr, err)
}

// initack presents a task to the server of PMI_PORT and learns its rank.
func initack(w io.Writer, r lineReader, id int) (rank, size int, err error) {
	if _, err := fmt.Fprintf(w, "cmd=initack pmiid=%d\n", id); err != nil {
		return 0, 0, err
	}
	l, err := r.line()
	if err != nil {
		return 0, 0, err
	}
	if l.cmd != "initack" {
		return 0, 0, fmt.Errorf("reply %.40q to initack", l.cmd)
	}
	if err := l.rc(); err != nil {
		return 0, 0, err
	}
	set := line{cmd: "set", args: make(map[string]string)}
	for range 3 { // size, rank and debug, in any order
		l, err := r.line()
		if err != nil {
			return 0, 0, err
		}
		maps.Copy(set.args, l.args)
	}
	if size, err = set.number("size", 1, 1<<31-1); err != nil {
		return 0, 0, err
	}
	rank, err = set.number("rank", 0, size-1)
	return rank, size, err
}

// A pmi1Link speaks PMI-1.
type pmi1Link struct {
	x          *exchange[line]
	rank, size int
	kvs        string // name of the job's key-value space
	part       int    // characters of a value put at once

	mu    sync.Mutex // one collective at a time
	round int        // allgathers done: no key is ever put twice
}

func newPMI1(conn io.WriteCloser, r lineReader, rank, size int) (*Client, error) {
	l := &pmi1Link{x: newExchange(conn, r.line), rank: rank, size: size}
	if err := l.init(); err != nil {
		l.x.leaving.Store(true)
		return nil, err
	}
	return &Client{link: l, pe: rank, npes: size, launcher: "PMI-1", lost: l.x.lost}, nil
}

func (l *pmi1Link) init() error {
	if _, err := l.call("response_to_init", "cmd=init pmi_version=1 pmi_subversion=1"); err != nil {
		return err
	}
	maxes, err := l.call("maxes", "cmd=get_maxes")
	if err != nil {
		return err
	}
	vallen, err := maxes.number("vallen_max", 1, 1<<31-1)
	if err != nil {
		return err
	}
	name, err := l.call("my_kvsname", "cmd=get_my_kvsname")
	if err != nil {
		return err
	}
	l.kvs = name.args["kvsname"]
	longest := len(l.put("gs1000000000-1000000-1000", "")) + 1
	l.part = min(partSize, vallen-1, maxLineSent-longest)
	if l.part < minPartSize {
		return fmt.Errorf("values of at most %d characters (kvsname %q, vallen_max %d), want %d", l.part, l.kvs, vallen, minPartSize)
	}
	return nil
}

// call sends a request and returns its reply, whose cmd is want. Each request
// is one write: some servers take what they read at once for one request.
func (l *pmi1Link) call(want, request string) (line, error) {
	reply, err := l.x.call([]byte(request + "\n"))
	if err != nil {
		return line{}, err
	}
	return reply, checkReply(reply, want, request)
}

func checkReply(reply line, want, request string) error {
	if reply.cmd != want {
		return fmt.Errorf("reply %.40q to %.40q, want %q", reply.cmd, request, want)
	}
	return reply.rc()
}

func (l *pmi1Link) key(rank, part int) string {
	return "gs" + strconv.Itoa(l.round) + "-" + strconv.Itoa(rank) + "-" + strconv.Itoa(part)
}

func (l *pmi1Link) put(key, value string) string {
	return "cmd=put kvsname=" + l.kvs + " key=" + key + " value=" + value
}

// Allgather puts blob as text of a CRC-32 (8 digits) and the bytes, all
// hexadecimal, cut into parts; the first part starts with the number of parts.
// A barrier makes the parts visible, then every PE gets those of
// all: NPEs² requests at one server, which is what PMI-1 has.
func (l *pmi1Link) Allgather(blob []byte) ([][]byte, error) {
	if len(blob) > MaxBlob {
		return nil, fmt.Errorf("pmi: allgather of %d bytes, at most %d allowed", len(blob), MaxBlob)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	blobs, err := l.allgather(blob)
	if err != nil {
		return nil, fmt.Errorf("pmi: allgather over PMI-1: %w", err)
	}
	return blobs, nil
}

func (l *pmi1Link) allgather(blob []byte) ([][]byte, error) {
	for i, part := range encodeParts(blob, l.part) {
		if _, err := l.call("put_result", l.put(l.key(l.rank, i), part)); err != nil {
			return nil, err
		}
	}
	if _, err := l.call("barrier_out", "cmd=barrier_in"); err != nil {
		return nil, err
	}
	blobs := make([][]byte, l.size)
	for rank := range blobs {
		if rank == l.rank {
			blobs[rank] = append([]byte{}, blob...)
			continue
		}
		b, err := decodeParts(func(i int) (string, error) {
			reply, err := l.call("get_result", "cmd=get kvsname="+l.kvs+" key="+l.key(rank, i))
			return reply.args["value"], err
		})
		if err != nil {
			return nil, fmt.Errorf("blob of PE %d: %w", rank, err)
		}
		blobs[rank] = b
	}
	l.round++
	return blobs, nil
}

func encodeParts(blob []byte, size int) []string {
	text := fmt.Sprintf("%08x%x", crc32.ChecksumIEEE(blob), blob)
	n := (countSize + len(text) + size - 1) / size
	text = fmt.Sprintf("%0*x", countSize, n) + text
	parts := make([]string, 0, n)
	for len(text) > size {
		parts = append(parts, text[:size])
		text = text[size:]
	}
	return append(parts, text)
}

const (
	// countSize is how many digits the number of parts has.
	countSize = 4

	// minPartSize is the least that a server must take as a value.
	minPartSize = 64

	// maxParts bounds what a PE's first part makes us ask for.
	maxParts = 2*MaxBlob/minPartSize + 1
)

func decodeParts(part func(i int) (string, error)) ([]byte, error) {
	first, err := part(0)
	if err != nil {
		return nil, err
	}
	count := first[:min(len(first), countSize)]
	n, err := strconv.ParseUint(count, 16, 32)
	if err != nil || n < 1 || n > maxParts {
		return nil, fmt.Errorf("first part starts %q, want a number of parts", count)
	}
	var b strings.Builder
	b.WriteString(first[countSize:])
	for i := 1; i < int(n); i++ {
		text, err := part(i)
		if err != nil {
			return nil, err
		}
		b.WriteString(text)
	}
	data, err := hex.DecodeString(b.String())
	if err != nil {
		return nil, err
	}
	if len(data) < 4 {
		return nil, fmt.Errorf("%d bytes, shorter than a checksum", len(data))
	}
	sum, data := data[:4], data[4:]
	if want := crc32.ChecksumIEEE(data); hex.EncodeToString(sum) != fmt.Sprintf("%08x", want) {
		return nil, errors.New("checksum mismatch: the process manager has changed or cut a value")
	}
	return data, nil
}

func (l *pmi1Link) Barrier() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.call("barrier_out", "cmd=barrier_in"); err != nil {
		return fmt.Errorf("pmi: barrier over PMI-1: %w", err)
	}
	return nil
}

func (l *pmi1Link) Abort(code int, _ string) error {
	if err := l.x.abort([]byte("cmd=abort exitcode=" + strconv.Itoa(code) + "\n")); err != nil {
		return fmt.Errorf("pmi: abort over PMI-1: %w", err)
	}
	return nil
}

func (l *pmi1Link) Finalize() error {
	const request = "cmd=finalize"
	reply, err := l.x.finish([]byte(request + "\n"))
	if err == nil {
		err = checkReply(reply, "finalize_ack", request)
	}
	if err != nil {
		return fmt.Errorf("pmi: finalize over PMI-1: %w", err)
	}
	return nil
}
