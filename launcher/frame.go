// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame is what launcher and proxy tell each other. On the link it is
//
//	length  4 bytes, of what follows
//	kind    1 byte
//	pe      4 bytes
//	n       8 bytes
//	data    the rest
//
// with all numbers in big endian. What pe, n and data mean depends on the kind;
// those that a kind does not use are zero.
type frame struct {
	kind kind
	pe   int // in [0, 2^31)
	n    int64
	data []byte
}

type kind uint8

// To the proxy. The first frame is frameJob.
const (
	frameJob    kind = 1 + iota // data: a nodeJob in JSON
	frameSignal                 // n: a signal for all PEs, as the launcher got it
	frameStop                   // n: a signal for all PEs, from the launcher itself
	frameKill                   // kill all processes of the job, and end
	frameCredit                 // n: bytes of output that have been written
	frameInput                  // data: of the launcher's standard input, none at its end

	// Of a job of several nodes.
	frameNetworks // data: the network of each node in JSON
	framePeers    // data: where each node listens for beats, in JSON
	frameTable    // n: bytes of it from here on; data: part of what pmi.Hub made of a round
	frameRefuse   // data: why rounds of the bootstrap fail
)

// To the launcher. The first frame is frameHello. None of a PE follows frameBye,
// but as long as other nodes need this one as a witness, frameLate may.
const (
	frameHello      kind = 64 + iota // n: linkVersion
	frameStarted                     // n: how many PEs run now
	frameFailed                      // n: exit status; data: why the job could not be started
	frameOutput                      // pe; n: stream, 1 or 2; data: bytes of it, none at its end
	frameJoined                      // pe has called Init
	frameAbort                       // pe; n: status; data: text
	frameExit                        // pe; n: exit code, or −signal; data: a pmi.State (1 byte)
	frameBroken                      // pe; data: how it broke the bootstrap's protocol
	frameNotice                      // data: text for the user
	frameBye                         // no process of the job is left on the node
	frameInputTaken                  // n: bytes of input that PE 0 has room for again

	// Of a job of several nodes.
	frameNetwork     // data: the node's network in JSON
	frameSource      // data: where the node listens for beats: an address and a port
	frameRound       // n: bytes of it from here on; data: part of a round of the node's server
	frameFinalized   // pe takes part in no round any more
	frameRoundFailed // data: why
	frameLate        // data: a lateness in JSON
)

const (
	// linkVersion changes whenever the frames do.
	linkVersion = 2

	frameHead = 1 + 4 + 8

	// maxData bounds the data of a frame. The job, whose arguments and
	// environment the kernel bounds to a few MiB, is the largest.
	maxData = 16 << 20

	// maxOutput is the most data of a frameOutput, so that no stream keeps
	// others waiting.
	maxOutput = 32 << 10

	// maxPart is the most data of a frame with part of a round.
	maxPart = 1 << 20
)

var errFrame = errors.New("malformed frame")

// append appends f, encoded, to b.
func (f frame) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(frameHead+len(f.data)))
	b = append(b, byte(f.kind))
	b = binary.BigEndian.AppendUint32(b, uint32(f.pe))
	b = binary.BigEndian.AppendUint64(b, uint64(f.n))
	return append(b, f.data...)
}

// check reports whether f is too long to be read at the other end. What bounds
// no frame's data by itself is to be checked before it is sent.
func (f frame) check() error {
	if len(f.data) > maxData {
		return fmt.Errorf("a frame with %d bytes of data, at most %d allowed", len(f.data), maxData)
	}
	return nil
}

// readFrame reads one frame. The error is io.EOF if the link ended between two
// frames. What a length claims is not believed before the bytes have come.
func readFrame(r io.Reader) (frame, error) {
	var head [4 + frameHead]byte
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return frame{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < frameHead || size > frameHead+maxData {
		return frame{}, fmt.Errorf("%w: %d bytes, want %d to %d", errFrame, size, frameHead, frameHead+maxData)
	}
	if _, err := io.ReadFull(r, head[4:]); err != nil {
		return frame{}, fmt.Errorf("%w: %d bytes announced: %w", errFrame, size, noEOF(err))
	}
	f := frame{
		kind: kind(head[4]),
		pe:   int(binary.BigEndian.Uint32(head[5:])),
		n:    int64(binary.BigEndian.Uint64(head[9:])),
	}
	if f.pe > 1<<31-1 {
		return frame{}, fmt.Errorf("%w: PE %d", errFrame, f.pe)
	}
	if rest := int64(size) - frameHead; rest > 0 {
		data, err := io.ReadAll(io.LimitReader(r, rest))
		if err == nil && int64(len(data)) < rest {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return frame{}, fmt.Errorf("%w: %d of %d bytes: %w", errFrame, len(data), rest, err)
		}
		f.data = data
	}
	return f, nil
}

// sendParts sends data, in frames of the kind, as a joiner takes it.
func (l *link) sendParts(k kind, data []byte) {
	for {
		part := data[:min(len(data), maxPart)]
		l.send(frame{kind: k, n: int64(len(data)), data: part})
		if data = data[len(part):]; len(data) == 0 {
			return
		}
	}
}

// A joiner joins the parts of one round after the other.
type joiner struct {
	limit int // bytes of a round
	data  []byte
}

// add takes a part, and returns the whole if that was its last one.
func (j *joiner) add(f frame) (whole []byte, err error) {
	if f.n < int64(len(f.data)) || f.n > int64(j.limit-len(j.data)) {
		return nil, fmt.Errorf("%w: %d bytes of a round from here on, with %d, after %d of at most %d", errFrame, f.n, len(f.data), len(j.data), j.limit)
	}
	j.data = append(j.data, f.data...)
	if f.n > int64(len(f.data)) {
		return nil, nil
	}
	whole, j.data = j.data, nil
	return whole, nil
}

// noEOF turns the end of input amid a frame into an error that says so.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
