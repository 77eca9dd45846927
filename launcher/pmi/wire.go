// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// After the handshake, client and server exchange messages: a length (4 bytes,
// big endian, of what follows), an op (1 byte) and the op's payload. The client
// sends one request and waits for its reply, except that an abort may be sent
// at any time. The payloads:
//
//	opAllgather   blob                     → opTable: a length (4 bytes) and the blob, for each PE
//	opBarrier     empty                    → opDone
//	opFinalize    empty                    → opDone; then both ends close
//	opAbort       status (4 bytes), text   → none; the server closes
//	              opWelcome: the server's last word of the handshake
//	              opRefused: text, instead of any other reply
const (
	opWelcome byte = 1 + iota
	opRefused
	opAllgather
	opTable
	opBarrier
	opDone
	opAbort
	opFinalize
)

const (
	// MaxBlob is the most bytes that a PE can give to [Client.Allgather].
	MaxBlob = 64 << 10

	// MaxMessage is the most bytes of text that [Client.Abort] sends on.
	MaxMessage = 4 << 10

	// maxRequest bounds what a server reads for one request.
	maxRequest = 1 + MaxBlob
)

var errTooLong = errors.New("message too long")

type message struct {
	op      byte
	payload []byte
}

func (m message) encode() []byte {
	b := make([]byte, 0, 5+len(m.payload))
	b = binary.BigEndian.AppendUint32(b, uint32(1+len(m.payload)))
	b = append(b, m.op)
	return append(b, m.payload...)
}

// readMessage reads one message, whose op and payload take at most limit bytes.
// The error is io.EOF if the connection ended between two messages.
func readMessage(r io.Reader, limit int) (message, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < 1 || int64(size) > int64(limit) {
		return message{}, fmt.Errorf("%w: %d bytes, at most %d allowed", errTooLong, size, limit)
	}
	payload := make([]byte, size-1)
	if _, err := io.ReadFull(r, payload); err != nil {
		return message{}, fmt.Errorf("message of %d bytes: %w", size, noEOF(err))
	}
	return message{op: head[4], payload: payload}, nil
}

// noEOF turns the end of input amid a message into an error that says so.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func abortPayload(code int, msg string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(int32(code)))
	return append(b, msg[:min(len(msg), MaxMessage)]...)
}

func parseAbort(payload []byte) (code int, msg string, err error) {
	if len(payload) < 4 || len(payload) > 4+MaxMessage {
		return 0, "", fmt.Errorf("abort of %d bytes, want 4 to %d", len(payload), 4+MaxMessage)
	}
	return int(int32(binary.BigEndian.Uint32(payload))), string(payload[4:]), nil
}

// tableLimit is the most bytes of a message that carries n blobs.
func tableLimit(n int) int { return 1 + n*(4+MaxBlob) }

func encodeTable(blobs [][]byte) []byte {
	size := 0
	for _, b := range blobs {
		size += 4 + len(b)
	}
	table := make([]byte, 0, size)
	for _, b := range blobs {
		table = binary.BigEndian.AppendUint32(table, uint32(len(b)))
		table = append(table, b...)
	}
	return table
}

// parseTable returns the n blobs of a table. They share its memory.
func parseTable(table []byte, n int) ([][]byte, error) {
	blobs := make([][]byte, n)
	for i := range blobs {
		var err error
		if len(table) == 0 {
			return nil, fmt.Errorf("table ends at blob %d of %d", i, n)
		}
		if blobs[i], table, err = cutBlob(table); err != nil {
			return nil, fmt.Errorf("blob %d of %d: %w", i, n, err)
		}
	}
	if len(table) != 0 {
		return nil, fmt.Errorf("%d bytes behind the table's %d blobs", len(table), n)
	}
	return blobs, nil
}

// parseList is parseTable for as many blobs as there are.
func parseList(table []byte) (blobs [][]byte, err error) {
	for len(table) > 0 {
		var blob []byte
		if blob, table, err = cutBlob(table); err != nil {
			return nil, fmt.Errorf("blob %d: %w", len(blobs), err)
		}
		blobs = append(blobs, blob)
	}
	return blobs, nil
}

// cutBlob returns the first blob of a table, and the rest.
func cutBlob(table []byte) (blob, rest []byte, err error) {
	if len(table) < 4 {
		return nil, nil, fmt.Errorf("its length has %d bytes, want 4", len(table))
	}
	size := binary.BigEndian.Uint32(table)
	table = table[4:]
	if uint64(size) > uint64(len(table)) {
		return nil, nil, fmt.Errorf("it has %d bytes, but the table only %d more", size, len(table))
	}
	return table[:size:size], table[size:], nil
}
