// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"bytes"
	"io"
	"strconv"
	"sync"
)

// An output writes what PEs write, in the order in which it comes, from a
// goroutine of its own: whoever reads it may be slow, or stop reading.
type output struct {
	streams [3]io.Writer            // by stream; 1 and 2
	written func(node int, n int64) // told how many bytes of a node's PEs have been written, or dropped
	failed  chan error              // the first failure of stream 1; cap 1

	mu     sync.Mutex
	change sync.Cond
	queue  []piece
	closed bool
	done   chan struct{} // closed when everything is written after close
}

// A piece is text for a stream.
type piece struct {
	stream int
	text   []byte
	node   int
	size   int // bytes of output of the node's PEs that it carries
}

func newOutput(stdout, stderr io.Writer, written func(node int, n int64)) *output {
	o := &output{
		streams: [3]io.Writer{1: stdout, 2: stderr},
		written: written,
		failed:  make(chan error, 1),
		done:    make(chan struct{}),
	}
	o.change.L = &o.mu
	go o.write()
	return o
}

// add queues text, which carries size bytes of output of a node's PEs. It does
// not wait.
func (o *output) add(stream int, text []byte, node, size int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(o.queue, piece{stream, text, node, size})
	o.change.Signal()
}

// close lets done be closed once everything is written.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.change.Signal()
}

func (o *output) write() {
	defer close(o.done)
	var broken [3]bool
	for {
		pieces := o.next()
		if pieces == nil {
			return
		}
		for len(pieces) > 0 {
			var p piece
			p, pieces = join(pieces)
			if !broken[p.stream] && len(p.text) > 0 {
				if _, err := o.streams[p.stream].Write(p.text); err != nil {
					broken[p.stream] = true
					if p.stream == 1 {
						o.failed <- err
					}
				}
			}
			if p.size > 0 {
				o.written(p.node, int64(p.size))
			}
		}
	}
}

// next waits for pieces and takes them, or returns nil at the end.
func (o *output) next() []piece {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closed {
		o.change.Wait()
	}
	pieces := o.queue
	o.queue = nil
	return pieces
}

// join takes the first pieces of a node for the same stream, as one: a write
// costs more than a copy.
func join(pieces []piece) (first piece, rest []piece) {
	first, rest = pieces[0], pieces[1:]
	var all []byte
	for len(rest) > 0 && rest[0].stream == first.stream && rest[0].node == first.node && len(first.text) < maxOutput {
		if all == nil {
			all = append(make([]byte, 0, 2*maxOutput), first.text...)
		}
		all = append(all, rest[0].text...)
		first.text = all
		first.size += rest[0].size
		rest = rest[1:]
	}
	return first, rest
}

// A labeler starts each line of a PE's stream with the PE's number, and hands
// on whole lines only. A line longer than maxLine is cut into several, of which
// all but the first are labelled as continued:
//
//	[3] the line's first 64 KiB
//	[3+] more of the same line
type labeler struct {
	pe        int
	line      []byte // not handed on yet
	continued bool   // the line has been cut
}

// maxLine is the longest line that is not cut, in bytes.
const maxLine = 64 << 10

// append appends to b what can be handed on, labelled, after data has come.
func (l *labeler) append(b, data []byte) []byte {
	for len(data) > 0 {
		part, rest, ended := bytes.Cut(data, []byte{'\n'})
		if room := maxLine - len(l.line); len(part) > room {
			part, rest, ended = part[:room], data[room:], false
		}
		l.line = append(l.line, part...)
		data = rest
		switch {
		case ended:
			// The end of a line that has just been cut has been written.
			if len(l.line) > 0 || !l.continued {
				b = l.appendLine(b)
			}
			l.continued = false
		case len(l.line) == maxLine:
			b = l.appendLine(b)
			l.continued = true
		}
	}
	return b
}

// flush appends the unfinished line, ended.
func (l *labeler) flush(b []byte) []byte {
	if len(l.line) > 0 {
		b = l.appendLine(b)
	}
	l.continued = false
	return b
}

func (l *labeler) appendLine(b []byte) []byte {
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(l.pe), 10)
	if l.continued {
		b = append(b, '+')
	}
	b = append(b, "] "...)
	b = append(b, l.line...)
	l.line = l.line[:0]
	return append(b, '\n')
}
