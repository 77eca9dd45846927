// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMessage_RoundTrip(t *testing.T) {
	var b bytes.Buffer
	sent := []message{
		{op: opBarrier, payload: []byte{}},
		{op: opAllgather, payload: make([]byte, MaxBlob)},
		{op: opAbort, payload: abortPayload(-7, "no more")},
	}
	for _, m := range sent {
		b.Write(m.encode())
	}
	for _, want := range sent {
		got, err := readMessage(&b, maxRequest)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := readMessage(&b, maxRequest)
	require.ErrorIs(t, err, io.EOF)
}

func TestReadMessage_RefusesWhatIsTooLong(t *testing.T) {
	long := message{opAllgather, make([]byte, MaxBlob+1)}.encode()
	_, err := readMessage(bytes.NewReader(long), maxRequest)
	require.ErrorIs(t, err, errTooLong)
	_, err = readMessage(bytes.NewReader([]byte{0, 0, 0, 0, opBarrier}), maxRequest)
	require.ErrorIs(t, err, errTooLong)
}

func TestReadMessage_TellsACutMessageFromTheEnd(t *testing.T) {
	whole := message{opAllgather, []byte("abc")}.encode()
	for n := 1; n < len(whole); n++ {
		_, err := readMessage(bytes.NewReader(whole[:n]), maxRequest)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the first %d bytes", n)
	}
}

func TestAbort_RoundTrip(t *testing.T) {
	for _, want := range []struct {
		code int
		msg  string
	}{{0, ""}, {1, "text"}, {-1, ""}, {1<<31 - 1, "x"}, {-1 << 31, "y"}} {
		code, msg, err := parseAbort(abortPayload(want.code, want.msg))
		require.NoError(t, err)
		require.Equal(t, want.code, code)
		require.Equal(t, want.msg, msg)
	}
	_, msg, err := parseAbort(abortPayload(1, string(make([]byte, 2*MaxMessage))))
	require.NoError(t, err)
	require.Len(t, msg, MaxMessage)
	_, _, err = parseAbort([]byte{1, 2, 3})
	require.Error(t, err)
}

func TestTable_RoundTrip(t *testing.T) {
	blobs := [][]byte{[]byte("one"), {}, make([]byte, MaxBlob), []byte("4")}
	got, err := parseTable(encodeTable(blobs), len(blobs))
	require.NoError(t, err)
	require.Equal(t, blobs, got)
}

func FuzzTable(f *testing.F) {
	f.Add(encodeTable([][]byte{[]byte("a"), nil, []byte("bc")}), 3)
	f.Add(encodeTable(nil), 0)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, 1)
	f.Fuzz(func(t *testing.T, table []byte, n int) {
		if n < 0 || n > 1000 {
			return
		}
		blobs, err := parseTable(table, n)
		if err != nil {
			return
		}
		if got := encodeTable(blobs); !bytes.Equal(got, table) {
			t.Errorf("table %x has the blobs of %x", table, got)
		}
	})
}

func FuzzMessage(f *testing.F) {
	f.Add(message{opAbort, abortPayload(3, "why")}.encode())
	f.Add(message{op: opBarrier}.encode())
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := readMessage(bytes.NewReader(b), maxRequest)
		if err != nil {
			return
		}
		if got := m.encode(); !bytes.Equal(got, b[:len(got)]) {
			t.Errorf("message %x was read as %x", b, got)
		}
		if code, msg, err := parseAbort(m.payload); err == nil && !bytes.Equal(abortPayload(code, msg), m.payload) {
			t.Errorf("abort %x was read as (%d, %q)", m.payload, code, msg)
		}
	})
}

// FuzzHandshake feeds both ends of the handshake: no stranger gets through.
func FuzzHandshake(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Add(append([]byte(magic), make([]byte, 4+2*nonceSize)...))
	f.Add(make([]byte, 200))
	f.Fuzz(func(t *testing.T, b []byte) {
		secret := [SecretSize]byte{1, 2, 3}
		if pe, err := receive(script{bytes.NewReader(b)}, secret, 4); err == nil {
			t.Errorf("the server took a stranger for PE %d", pe)
		}
		err := greet(script{bytes.NewReader(b)}, secret, 0, 4)
		var refused refusal
		if err == nil || errors.As(err, &refused) {
			t.Errorf("the client took a stranger for the launcher: %v", err)
		}
	})
}

// A script says what it has to say, and does not listen.
type script struct{ io.Reader }

func (script) Write(b []byte) (int, error) { return len(b), nil }
