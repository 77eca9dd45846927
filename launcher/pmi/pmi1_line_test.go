// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseLine(t *testing.T) {
	tests := []struct {
		text string
		want line
	}{
		{"cmd=barrier_in", line{"barrier_in", map[string]string{}}},
		{"cmd=get_result rc=0 msg=success value=(vector,(0,1,1))", line{"get_result", map[string]string{"rc": "0", "msg": "success", "value": "(vector,(0,1,1))"}}},
		{"cmd=put  kvsname=kvs_1   key=-bcast-1-0 value=x=y==z", line{"put", map[string]string{"kvsname": "kvs_1", "key": "-bcast-1-0", "value": "x=y==z"}}},
		{"cmd=x bare empty= ", line{"x", map[string]string{"bare": "", "empty": ""}}},
	}
	for _, test := range tests {
		got, err := parseLine(test.text)
		require.NoError(t, err, test.text)
		require.Equal(t, test.want, got)
	}
	for _, text := range []string{"", "   ", "cmd", "cmd=", "key=a cmd=put", "mcmd=spawn", "cmd=put =x"} {
		_, err := parseLine(text)
		require.Error(t, err, "%q", text)
	}
}

func TestLine_RC(t *testing.T) {
	for text, want := range map[string]bool{
		"cmd=x":                       true,
		"cmd=x rc=0":                  true,
		"cmd=x rc=1":                  false,
		"cmd=x rc=-1 msg=no_such_key": false,
	} {
		l, err := parseLine(text)
		require.NoError(t, err)
		require.Equal(t, want, l.rc() == nil, text)
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", maxLineRead-1)
	r := lineReader{bufio.NewReader(strings.NewReader("cmd=a\n\n" + long + "\nrest"))}
	for _, want := range []string{"cmd=a", "", long} {
		got, err := r.text()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := r.text()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = r.text()
	require.ErrorIs(t, err, io.EOF)

	_, err = lineReader{bufio.NewReader(strings.NewReader(long + "x\n"))}.text()
	require.ErrorIs(t, err, errTooLong)
}

// A duplex reads from one place and writes to another.
type duplex struct {
	io.Reader
	io.Writer
}

// FuzzPMI1Server feeds the server whatever a process may send: it answers each
// line with lines, and survives.
func FuzzPMI1Server(f *testing.F) {
	f.Add([]byte("cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=get_my_kvsname\ncmd=finalize\n"))
	f.Add([]byte("cmd=put kvsname=k key=a value=b\ncmd=get kvsname=k key=a\ncmd=get key=PMI_process_mapping\n"))
	f.Add([]byte("mcmd=spawn\nnprocs=1\nendcmd\ncmd=abort exitcode=-1\n"))
	f.Add([]byte("cmd=barrier_in\ncmd=barrier_in\n"))
	f.Add([]byte("cmd=init pmi_version=2\n\x00\xff\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := NewServer(Job{
			NPEs:   2,
			ID:     "feed",
			Joined: func(int) {},
			Abort:  func(int, int, string) {},
			Log:    func(string) {},
			Notice: func(string) {},
		})
		defer s.Close()
		// A barrier's reply comes from another goroutine, and may come too late.
		if bytes.Contains(b, []byte("barrier_in")) {
			s.servePMI1(0, duplex{bytes.NewReader(b), io.Discard})
			return
		}
		var out bytes.Buffer
		err := s.servePMI1(0, duplex{bytes.NewReader(b), &out})
		replies := bytes.SplitAfter(out.Bytes(), []byte("\n"))
		if last := replies[len(replies)-1]; len(last) > 0 {
			t.Errorf("reply %q does not end", last)
		}
		for _, reply := range replies[:len(replies)-1] {
			if _, e := parseLine(string(bytes.TrimSuffix(reply, []byte("\n")))); e != nil {
				t.Errorf("reply %q: %v", reply, e)
			}
		}
		if lines := bytes.Count(b, []byte("\n")); len(replies)-1 > lines {
			t.Errorf("%d replies to %d requests (%v)", len(replies)-1, lines, err)
		}
	})
}

// FuzzParts reads back what a process manager may have made of a value.
func FuzzParts(f *testing.F) {
	f.Add([]byte("blob"), 64, 0, byte(0))
	f.Add(make([]byte, 1000), 900, 17, byte(1))
	f.Fuzz(func(t *testing.T, blob []byte, size, at int, flip byte) {
		if size < minPartSize || size > maxLineSent || len(blob) > MaxBlob {
			return
		}
		parts := encodeParts(blob, size)
		for i, part := range parts {
			if len(part) > size || part == "" || i < len(parts)-1 && len(part) != size {
				t.Fatalf("part %d of %d has %d characters, want 1 to %d", i, len(parts), len(part), size)
			}
		}
		changed := flip != 0
		if changed {
			i := int(uint(at) % uint(len(parts)))
			b := []byte(parts[i])
			b[uint(at)%uint(len(b))] ^= flip
			parts[i] = string(b)
		}
		got, err := decodeParts(func(i int) (string, error) {
			if i >= len(parts) {
				return "", io.EOF
			}
			return parts[i], nil
		})
		if err == nil && !bytes.Equal(got, blob) || err != nil && !changed {
			t.Errorf("%d bytes in parts of %d, changed: %v; got %d bytes, %v", len(blob), size, changed, len(got), err)
		}
	})
}
