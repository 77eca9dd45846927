// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// The figures of each mode on np PEs, in the order in which they are printed.
var figures = map[string]string{
	"p2p": `put8_quiet us, putnbi8_rate Mops/s, putnbi8_batch_rate Mops/s, get8 us,
		putbw_4K GB/s, putbw_64K GB/s, putbw_1M GB/s, putbw_16M GB/s,
		getbw_4K GB/s, getbw_64K GB/s, getbw_1M GB/s, getbw_16M GB/s,
		memcpy_4K GB/s, memcpy_64K GB/s, memcpy_1M GB/s, memcpy_16M GB/s,
		iput8x1024 us, fadd us, cswap us, fetch us, add_rate Mops/s, pp_put_half us, pp_putsignal_half us`,
	"away": `put8_asleep us, get8_asleep us, fadd_asleep us, put8_computing us, get8_computing us, fadd_computing us`,
	"coll": `barrier_npN us, bcast_8_npN us, bcast_1M_npN us, sum_1_npN us, sum_1Mi_npN us,
		alltoall_8_npN us, alltoall_64K_npN us, fcollect_8_npN us, fcollect_64K_npN us`,
	"gups": `gups_xor Mups`,
	"lock": `lock_1000 s`,
	"init": `init_s s, rss MiB, pss MiB`,
}

// checkFigures looks whether out holds exactly a mode's figures, each with a
// positive value.
func checkFigures(t *testing.T, out, mode string, np int, more ...string) {
	t.Helper()
	var want []string
	for figure := range strings.SplitSeq(figures[mode], ",") {
		want = append(want, strings.Replace(strings.TrimSpace(figure), "npN", "np"+strconv.Itoa(np), 1))
	}
	want = append(want, more...)
	var got []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			t.Errorf("%s np=%d: line %q is no figure", mode, np, line)
			continue
		}
		if v, err := strconv.ParseFloat(fields[1], 64); err != nil || v <= 0 {
			t.Errorf("%s np=%d: line %q has no positive value", mode, np, line)
		}
		got = append(got, fields[0]+" "+fields[2])
	}
	if g, w := strings.Join(got, ", "), strings.Join(want, ", "); g != w {
		t.Errorf("%s np=%d: got figures\n%s\nwant\n%s", mode, np, g, w)
	}
}

// runMode runs a mode on one PE, with the least time for each figure.
func runMode(pe *shmem.PE, mode string, out io.Writer) error {
	if pe.MyPE() != 0 {
		out = io.Discard
	}
	return run(pe, []string{mode}, "0", time.Millisecond, out)
}

// reportedAsRace reports whether the race detector watches a mode that it would
// object to, with reason: the large transfers between two Quiets all go to one
// place. It is how such bandwidths are measured, and they carry the same data.
func reportedAsRace(mode string) bool { return race.Enabled && mode == "p2p" }

func TestMicrobench_InProcess(t *testing.T) {
	for _, c := range []struct {
		mode string
		np   int
	}{{"p2p", 2}, {"p2p", 3}, {"away", 2}, {"coll", 1}, {"coll", 3}, {"gups", 3}, {"lock", 3}} {
		if reportedAsRace(c.mode) {
			continue
		}
		var out bytes.Buffer
		shmemtest.Run(t, c.np, func(pe *shmem.PE) error { return runMode(pe, c.mode, &out) }, shmemtest.Heap(64<<20))
		checkFigures(t, out.String(), c.mode, c.np)
	}
}

// Every figure's check finds that nothing of one kind arrives.
func TestMicrobench_ChecksWhatItMeasures(t *testing.T) {
	for _, c := range []struct {
		mode string
		drop loop.Kind
		want string
	}{
		{"p2p", loop.Put, "put8_quiet: word 0 is 0x0"},
		{"p2p", loop.Get, "get8: word 0 is 0x0"},
		{"p2p", loop.Fetch, "fadd: the word is 0"},
		{"gups", loop.Atomic, "gups_xor: "},
	} {
		if reportedAsRace(c.mode) {
			continue
		}
		lost := loop.Faults{Drop: func(e loop.Event) bool { // not the barriers' own
			return e.Kind == c.drop && e.Source == 0 && e.Target == 1 && e.Off >= segment.SystemSize
		}}
		errs := shmemtest.Try(t, 2, func(pe *shmem.PE) error { return runMode(pe, c.mode, io.Discard) },
			shmemtest.Heap(64<<20), shmemtest.Faults(lost))
		found := false
		for _, err := range errs {
			found = found || err != nil && strings.HasPrefix(err.Error(), c.want)
		}
		if !found {
			t.Errorf("%s without any %v: errors %v, want one that begins with %q", c.mode, c.drop, errs, c.want)
		}
	}
}

func TestMicrobench_UnderGorun(t *testing.T) {
	t.Setenv("BENCH_T", "0.001")
	microbench := jobtest.Build(t)
	checkFigures(t, microbench.Succeed(2, "p2p"), "p2p", 2)
	checkFigures(t, microbench.Succeed(2, "away"), "away", 2)
	checkFigures(t, microbench.Succeed(3, "coll"), "coll", 3)
	checkFigures(t, microbench.Succeed(2, "gups"), "gups", 2)
	checkFigures(t, microbench.Succeed(2, "init"), "init", 2, "finalize_s s")
	microbench.Refuse("p2p needs 2 PEs, not 1", 1, "p2p")
	microbench.Refuse(`unknown mode "pp"`, 2, "pp")
	t.Setenv("BENCH_T", "soon")
	microbench.Refuse(`BENCH_T="soon" is no time in seconds`, 2, "gups")
}

func TestGrow(t *testing.T) {
	for _, c := range []struct {
		n          int
		wall, want time.Duration
		warmup     bool
		next       int
	}{
		{1, 2 * time.Second, time.Second, true, 1},  // never ends with the first run
		{1, 2 * time.Second, time.Second, false, 0}, // long enough
		{100, time.Second / 2, time.Second, false, 220},
		{100, time.Second * 9 / 10, time.Second, false, 200}, // at least twice as many
		{100, 0, time.Second, false, 1600},                   // at most 16 times
		{maxIterations, 0, time.Second, false, 0},
	} {
		if got := grow(c.n, c.wall, c.want, c.warmup); got != c.next {
			t.Errorf("grow(%d, %v, %v, %v) is %d, want %d", c.n, c.wall, c.want, c.warmup, got, c.next)
		}
	}
}

func TestLookup(t *testing.T) {
	const status = "Name:\tmicrobench\nVmRSS:\t    5400 kB\nRssAnon: 12 kB\n"
	if kib, ok := lookup(strings.NewReader(status), "VmRSS:"); !ok || kib != 5400 {
		t.Errorf("got %v, %v, want 5400", kib, ok)
	}
	if _, ok := lookup(strings.NewReader(status), "Rss:"); ok {
		t.Error("found a key that is not there")
	}
}
