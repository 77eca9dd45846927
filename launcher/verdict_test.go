// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/launcher/pmi"
)

func TestJudge(t *testing.T) {
	const (
		outside   = pmi.Outside
		inside    = pmi.Inside
		finalized = pmi.Finalized
	)
	exit := func(pe, n int, state pmi.State) func(*judge) bool {
		return func(j *judge) bool { return j.exit(pe, n, state) }
	}
	join := func(pe int) func(*judge) bool {
		return func(j *judge) bool { return j.join(pe) }
	}
	abort := func(pe, code int, msg string) func(*judge) bool {
		return func(j *judge) bool { j.abort(pe, code, msg); return true }
	}
	type events []func(*judge) bool
	tests := map[string]struct {
		events events // only the last one ends the job
		status int
		reason string
	}{
		"a PE fails":               {events{exit(1, 3, finalized)}, 3, "PE 1 exited with status 3"},
		"a foreign program fails":  {events{exit(0, 1, outside)}, 1, "PE 0 exited with status 1"},
		"a PE is killed":           {events{exit(2, -9, inside)}, 137, "PE 2 was killed by signal 9 (killed)"},
		"no Finalize":              {events{join(0), exit(1, 0, inside)}, 1, "PE 1 ended with status 0 without Finalize after Init"},
		"status wins over that":    {events{join(0), exit(1, 5, inside)}, 5, "PE 1 exited with status 5"},
		"no Init, but others":      {events{join(0), exit(1, 0, outside)}, 1, "PE 1 ended with status 0 without Init, which PE 0 has called"},
		"no Init, and others late": {events{exit(1, 0, outside), exit(2, 0, outside), join(0)}, 1, "PE 1 ended with status 0 without Init, which PE 0 has called"},
		"abort":                    {events{join(0), abort(1, 7, "")}, 7, "PE 1 ended the job with status 7"},
		"abort with text":          {events{abort(0, 7, "no more")}, 7, "PE 0 ended the job with status 7: no more"},
		"abort with success":       {events{abort(0, 0, "")}, 0, ""},
		"abort with 256":           {events{abort(0, 256, "")}, 1, "PE 0 ended the job with status 256"},
		"abort with -1":            {events{abort(0, -1, "")}, 255, "PE 0 ended the job with status -1"},
	}
	for name, test := range tests {
		j := newJudge(func(int) string { return "" })
		for i, event := range test.events {
			require.Equal(t, i == len(test.events)-1, event(j), "%s: event %d ends the job", name, i)
		}
		require.Equal(t, test.status, j.verdict.status, name)
		require.Equal(t, test.reason, j.verdict.reason, name)

		require.False(t, j.exit(3, 99, finalized), "%s: the first cause decides", name)
		require.Equal(t, test.status, j.verdict.status, name)
	}
}

func TestJudge_GoodEnds(t *testing.T) {
	shmem := newJudge(func(int) string { return "" })
	require.False(t, shmem.join(1))
	foreign := newJudge(func(int) string { return "" })
	for pe := range 3 {
		require.False(t, shmem.exit(pe, 0, pmi.Finalized))
		require.False(t, foreign.exit(pe, 0, pmi.Outside))
	}
	require.Nil(t, shmem.verdict)
	require.Nil(t, foreign.verdict)
}

func TestVerdict_QuotesLastWords(t *testing.T) {
	const trace = "\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x25\n"
	tests := []struct {
		verdict verdict
		said    []string
		want    string
	}{
		{verdict{3, "PE 1 exited with status 3", 1}, nil, "PE 1 exited with status 3"},
		{verdict{3, "PE 1 exited with status 3", 1}, []string{"one\ntw", "o\n", "\n \n"}, `PE 1 exited with status 3; its last words: "two"`},
		{verdict{3, "PE 1 exited with status 3", 1}, []string{"one\nunfinished"}, `PE 1 exited with status 3; its last words: "unfinished"`},
		{verdict{2, "PE 0 exited with status 2", 1}, []string{"panic: oh\n" + trace}, `PE 0 exited with status 2 (Go panic or fatal error); its last words: "panic: oh"`},
		{verdict{2, "PE 0 exited with status 2", 1}, []string{"PE 0: panic: oh\n" + trace}, `PE 0 exited with status 2 (Go panic or fatal error); its last words: "PE 0: panic: oh"`},
		{verdict{2, "PE 0 exited with status 2", 1}, []string{"fatal error: all goroutines are asleep - deadlock!\n" + trace}, `PE 0 exited with status 2 (Go panic or fatal error); its last words: "fatal error: all goroutines are asleep - deadlock!"`},
		{verdict{127, "PE 0 exited with status 127", 1}, []string{"./app: error while loading shared libraries: libfabric.so.1: cannot open shared object file: No such file or directory\n"}, `PE 0 exited with status 127 (the program needs libfabric, which is not installed there: apt-get install -y libfabric1); its last words: "./app: error while loading shared libraries: libfabric.so.1: cannot open shared object file: No such file or directory"`},
		{verdict{2, "PE 0 exited with status 2", 1}, []string{"usage: x\n"}, `PE 0 exited with status 2; its last words: "usage: x"`},
		{verdict{124, "too late", nobody}, []string{"one\n"}, "too late"},
		{verdict{0, "", nobody}, []string{"one\n"}, ""},
	}
	for _, test := range tests {
		w := new(lastWords)
		for _, text := range test.said {
			w.note([]byte(text))
		}
		got := test.verdict.explain(func(pe int) *lastWords {
			require.Equal(t, test.verdict.pe, pe)
			return w
		})
		require.Equal(t, test.want, got)
	}
}

func TestLastWords_AreBounded(t *testing.T) {
	w := new(lastWords)
	for range 1000 {
		w.note(make([]byte, 1000))
	}
	w.note([]byte("\nshort\n"))
	text, _ := w.quote(1)
	require.Equal(t, "short", text)
	w.note(append([]byte("long"), make([]byte, 10*maxWords)...))
	text, _ = w.quote(1)
	require.LessOrEqual(t, len(text), maxWords)
	require.Equal(t, "long", text[:4])
}
