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
)

// To the launcher. The first frame is frameHello, the last one frameBye.
const (
	frameHello   kind = 64 + iota // n: linkVersion
	frameStarted                  // n: how many PEs run now
	frameFailed                   // n: exit status; data: why the job could not be started
	frameOutput                   // pe; n: stream, 1 or 2; data: bytes of it, none at its end
	frameJoined                   // pe has called Init
	frameAbort                    // pe; n: status; data: text
	frameExit                     // pe; n: exit code, or −signal; data: a pmi.State (1 byte)
	frameBroken                   // pe; data: how it broke the bootstrap's protocol
	frameNotice                   // data: text for the user
	frameBye                      // no process of the job is left on the node
)

const (
	// linkVersion changes whenever the frames do.
	linkVersion = 1

	frameHead = 1 + 4 + 8

	// maxData bounds the data of a frame. The job, whose arguments and
	// environment the kernel bounds to a few MiB, is the largest.
	maxData = 16 << 20

	// maxOutput is the most data of a frameOutput, so that no stream keeps
	// others waiting.
	maxOutput = 32 << 10
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

// noEOF turns the end of input amid a frame into an error that says so.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
