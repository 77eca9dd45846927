// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFrame_RoundTrip(t *testing.T) {
	frames := []frame{
		{kind: frameBye},
		{kind: frameExit, pe: 3, n: -9, data: []byte{1}},
		{kind: frameOutput, pe: 1<<31 - 1, n: 2, data: make([]byte, maxOutput)},
		{kind: frameJob, n: -1 << 63, data: bytes.Repeat([]byte("x"), maxData)},
	}
	var b []byte
	for _, f := range frames {
		b = f.append(b)
	}
	r := bytes.NewReader(b)
	for _, want := range frames {
		got, err := readFrame(r)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := readFrame(r)
	require.ErrorIs(t, err, io.EOF)
}

func TestFrame_CheckAllowsWhatCanBeRead(t *testing.T) {
	require.NoError(t, frame{data: make([]byte, maxData)}.check())
	require.EqualError(t, frame{data: make([]byte, maxData+1)}.check(), "a frame with 16777217 bytes of data, at most 16777216 allowed")
}

func TestReadFrame_RefusesWhatIsMalformed(t *testing.T) {
	tests := map[string][]byte{
		"too short":  {0, 0, 0, frameHead - 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"too long":   {0xff, 0xff, 0xff, 0xff, 1},
		"a large PE": {0, 0, 0, frameHead, 1, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	}
	whole := frame{kind: frameNotice, data: []byte("text")}.append(nil)
	for n := 5; n < len(whole); n++ {
		tests["cut at "+string(rune('a'+n))] = whole[:n]
	}
	for name, b := range tests {
		_, err := readFrame(bytes.NewReader(b))
		require.ErrorIs(t, err, errFrame, name)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(frame{kind: frameExit, pe: 1, n: -9, data: []byte{2}}.append(nil))
	f.Add(frame{kind: frameOutput, n: 1, data: []byte("hello\n")}.append(nil))
	f.Add([]byte("ssh: connect to host: no route\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := readFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		if again := got.append(nil); !bytes.Equal(again, b[:len(again)]) {
			t.Errorf("frame %x was read as %+v", b, got)
		}
	})
}
