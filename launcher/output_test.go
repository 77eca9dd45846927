// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds waits that only a defect makes long.
const patience = time.Minute

func await[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("nothing for %v", patience)
		panic("unreachable")
	}
}

func TestLabeler(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	tests := map[string]struct {
		said []string
		want string // up to the flush
		rest string
	}{
		"a line":            {[]string{"one\n"}, "[3] one\n", ""},
		"lines":             {[]string{"one\n\ntwo\n"}, "[3] one\n[3] \n[3] two\n", ""},
		"pieces":            {[]string{"o", "n", "e\ntw", "o\n"}, "[3] one\n[3] two\n", ""},
		"unfinished":        {[]string{"one\ntwo"}, "[3] one\n", "[3] two\n"},
		"nothing":           {[]string{"", ""}, "", ""},
		"just not too long": {[]string{long[1:], "\n"}, "[3] " + long[1:] + "\n", ""},
		"the longest":       {[]string{long, "\n", "next\n"}, "[3] " + long + "\n[3] next\n", ""},
		"a longer one":      {[]string{long, "y", "\nnext\n"}, "[3] " + long + "\n[3+] y\n[3] next\n", ""},
		"in one piece":      {[]string{long + long + "y\n"}, "[3] " + long + "\n[3+] " + long + "\n[3+] y\n", ""},
		"long, unfinished":  {[]string{long + "y"}, "[3] " + long + "\n", "[3+] y\n"},
	}
	for name, test := range tests {
		l := labeler{pe: 3}
		var got []byte
		for _, text := range test.said {
			got = l.append(got, []byte(text))
		}
		require.Equal(t, test.want, string(got), name)
		require.Equal(t, test.rest, string(l.flush(nil)), name)
		require.Equal(t, "[3] again\n", string(l.append(nil, []byte("again\n"))), "%s: after the flush", name)
	}
}

func FuzzLabeler(f *testing.F) {
	f.Add([]byte("one\ntwo"), 3)
	f.Add(bytes.Repeat([]byte("x"), 2*maxLine+1), maxLine)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		cut = int(uint(cut) % uint(len(text)+1))
		l := labeler{pe: 7}
		got := l.append(nil, text[:cut])
		got = l.append(got, text[cut:])
		got = l.flush(got)
		// Taking the labels away, and joining what was cut, gives the text back.
		var plain []byte
		for line := range bytes.Lines(got) {
			if rest, ok := bytes.CutPrefix(line, []byte("[7+] ")); ok {
				plain = append(plain[:len(plain)-1], rest...)
			} else if rest, ok := bytes.CutPrefix(line, []byte("[7] ")); ok {
				plain = append(plain, rest...)
			} else {
				t.Fatalf("line %.40q has no label", line)
			}
		}
		if want := bytes.TrimSuffix(text, []byte("\n")); !bytes.Equal(bytes.TrimSuffix(plain, []byte("\n")), want) {
			t.Errorf("%.40q was labelled as %.40q", text, got)
		}
	})
}

func TestOutput_KeepsOrderAndCounts(t *testing.T) {
	var all bytes.Buffer
	written := int64(0)
	o := newOutput(&all, &all, func(_ int, n int64) { written += n })
	var want strings.Builder
	for i := range 1000 {
		text := fmt.Sprintf("%d\n", i)
		want.WriteString(text)
		o.add(1+i%3%2, []byte(text), 0, 10)
	}
	o.close()
	<-o.done
	require.Equal(t, want.String(), all.String())
	require.Equal(t, int64(10*1000), written)
}

// A stuck writer does not return before it is let go.
type stuck struct{ release chan struct{} }

func (s stuck) Write([]byte) (int, error) {
	<-s.release
	return 0, errors.New("gone")
}

func TestOutput_AddDoesNotWaitForAReader(t *testing.T) {
	s := stuck{make(chan struct{})}
	credited := make(chan int64, 3)
	o := newOutput(s, io.Discard, func(_ int, n int64) { credited <- n })
	for range 3 {
		o.add(1, make([]byte, maxOutput), 0, 5)
	}
	require.Empty(t, credited)
	close(s.release)
	for range 3 {
		require.Equal(t, int64(5), await(t, credited), "what can't be written is dropped")
	}
	require.ErrorContains(t, await(t, o.failed), "gone")
	o.close()
	await(t, o.done)
}

func TestCredit(t *testing.T) {
	c := newCredit(outputWindow)
	c.take(outputWindow)
	taken := make(chan struct{})
	go func() {
		c.take(2)
		close(taken)
	}()
	c.give(1)
	select {
	case <-taken:
		t.Fatal("2 bytes of credit taken, 1 given")
	default:
	}
	c.give(1)
	await(t, taken)
	c.close()
	c.take(outputWindow)
}
