// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOutbox_GiversDoNotWait(t *testing.T) {
	r, w := io.Pipe()
	written := make(chan int, 100)
	o := newOutbox(w, func(n int) { written <- n })
	b := []byte("ab")
	for range 50 { // more than a reader has taken
		n, err := o.Write(b)
		require.NoError(t, err)
		require.Equal(t, 2, n)
	}
	copy(b, "xx") // it is the giver's again
	o.Close()
	_, err := o.Write(b) // too late
	require.NoError(t, err)
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("ab", 50), string(all))
	for range 50 {
		require.Equal(t, 2, <-written)
	}
}

func TestOutbox_IsFlushedOnceAllIsWritten(t *testing.T) {
	r, w := io.Pipe()
	o := newOutbox(w, nil)
	<-o.flushed() // of nothing
	_, err := o.Write([]byte("ab"))
	require.NoError(t, err)
	flushed := o.flushed()
	_, err = io.ReadFull(r, make([]byte, 1))
	require.NoError(t, err)
	select {
	case <-flushed:
		t.Fatal("flushed before all is read")
	default:
	}
	_, err = io.ReadFull(r, make([]byte, 1))
	require.NoError(t, err)
	<-flushed

	_, err = o.Write([]byte("cd"))
	require.NoError(t, err)
	flushed = o.flushed()
	r.Close()
	<-flushed // nobody reads it
	<-o.flushed()
}

type brokenWriter struct{ closed chan struct{} }

func (w brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func (w brokenWriter) Close() error {
	close(w.closed)
	return nil
}

func TestOutbox_DropsWhatNobodyReads(t *testing.T) {
	w := brokenWriter{make(chan struct{})}
	o := newOutbox(w, func(int) { t.Error("something was written") })
	_, err := o.Write([]byte("x"))
	require.NoError(t, err)
	select {
	case <-w.closed:
	case <-time.After(time.Minute):
		t.Fatal("the writer is not closed")
	}
	_, err = o.Write([]byte("x"))
	require.NoError(t, err)
}

func TestJoiner_JoinsWhatSendPartsCuts(t *testing.T) {
	for _, size := range []int{0, 1, maxPart - 1, maxPart, maxPart + 1, 2*maxPart + 5} {
		data := bytes.Repeat([]byte("data!"), size/5+1)[:size]
		var sent bytes.Buffer
		(&link{w: &sent}).sendParts(frameRound, data)
		j := joiner{limit: size}
		for {
			f, err := readFrame(&sent)
			require.NoError(t, err)
			require.Equal(t, frameRound, f.kind)
			whole, err := j.add(f)
			require.NoError(t, err)
			if sent.Len() == 0 {
				require.True(t, bytes.Equal(data, whole))
				break
			}
			require.Nil(t, whole)
		}
	}
}

func TestJoiner_RefusesTooMuch(t *testing.T) {
	for _, f := range []frame{{n: 11}, {n: -1}, {n: 1, data: []byte("xx")}, {n: 11, data: []byte("xx")}} {
		j := joiner{limit: 10}
		_, err := j.add(f)
		require.ErrorIs(t, err, errFrame, "%+v", f)
	}
	j := joiner{limit: 10}
	_, err := j.add(frame{n: 10, data: []byte("12345")})
	require.NoError(t, err)
	_, err = j.add(frame{n: 6, data: []byte("123456")})
	require.ErrorIs(t, err, errFrame)
}
