// SPDX-License-Identifier: BSD-3-Clause

//go:build race

package loop_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
)

// A raceProgram is a small SPMD program with a mistake, or without: the one
// line that makes the difference depends on right.
type raceProgram struct {
	name string
	n    int
	run  func(p *prog, right bool)
}

// Where the programs keep what.
const (
	data  = 256 // 100 bytes
	flag  = 0
	flag2 = 64
)

var racePrograms = []raceProgram{
	{"a put and a flag need a fence between them", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.put(1, data, make([]byte, 100))
			p.fenceIf(right)
			p.word(1, flag, 8, 1)
		} else {
			p.wait(flag, fabric.Uint64, 1)
			use(p.seg[data+99])
		}
	}},
	{"a put and an atomic flag need a quiet between them", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.put(1, data, make([]byte, 100))
			p.quietIf(right)
			p.atomic(1, flag, 1)
		} else {
			p.wait(flag, fabric.Uint64, 1)
			p.seg[data] = 1
		}
	}},
	{"a put and a flag of one byte need a fence between them", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.put(1, data, make([]byte, 100))
			p.fenceIf(right)
			p.word(1, flag+3, 1, 1)
		} else {
			p.wait(flag+3, fabric.Uint8, 1)
			use(p.seg[data])
		}
	}},
	{"a put and a flag beside it need a fence between them", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.put(1, flag+4, make([]byte, 4))
			p.fenceIf(right)
			p.word(1, flag, 4, 1)
		} else {
			p.wait(flag, fabric.Uint32, 1)
			use(p.seg[flag+4])
		}
	}},
	{"a put and a polled flag need a fence between them", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.put(1, data, make([]byte, 100))
			p.fenceIf(right)
			p.atomic(1, flag, 1)
		} else {
			for p.read(1, flag) == 0 {
				runtime.Gosched()
			}
			use(p.seg[data])
		}
	}},
	{"a put is not visible before it is waited for", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.put(1, data, make([]byte, 100))
			p.quiet()
			p.word(1, flag, 8, 1)
		} else {
			if right {
				p.wait(flag, fabric.Uint64, 1)
			}
			use(p.seg[data])
		}
	}},
	{"a flag by put and quiet can be waited for and read", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.put(1, data, make([]byte, 100))
			p.quietIf(right)
			p.put(1, flag, []byte{1, 1, 1, 1})
		} else {
			p.wait(flag, fabric.Uint32, 0x01010101)
			use(p.seg[flag])
			use(p.seg[data])
		}
	}},
	{"the source of a non-blocking put is the NIC's until quiet", 2, func(p *prog, right bool) {
		if p.me == 0 {
			src := make([]byte, 100)
			p.must(p.ep.PutNBI(1, data, src))
			p.quietIf(right)
			src[1] = 9
		}
	}},
	{"the destination of a non-blocking get is the NIC's until quiet", 2, func(p *prog, right bool) {
		if p.me == 0 {
			dst := make([]byte, 100)
			p.must(p.ep.GetNBI(1, dst, data))
			p.quietIf(right)
			use(dst[1])
		}
	}},
	{"the result of a non-blocking fetch is the NIC's until quiet", 2, func(p *prog, right bool) {
		if p.me == 0 {
			result := make([]byte, 8)
			p.must(p.ep.FetchAtomicNBI(1, fabric.OpSum, fabric.Int64, data, 1, 0, result))
			p.quietIf(right)
			use(result[0])
		}
	}},
	{"the source of a blocking put is the caller's again", 2, func(p *prog, right bool) {
		if p.me == 0 {
			src := make([]byte, 100)
			if right {
				p.put(1, data, src)
			} else {
				p.must(p.ep.PutNBI(1, data, src))
			}
			src[1] = 9
			p.quiet()
		}
	}},
	{"two PEs put to one place one after the other", 3, func(p *prog, right bool) {
		switch p.me {
		case 0:
			p.put(2, data, []byte{1})
			p.quiet()
			p.word(1, flag, 8, 1)
		case 1:
			if right {
				p.wait(flag, fabric.Uint64, 1)
			}
			p.put(2, data, []byte{2})
		}
	}},
	{"puts of one PE to one place need a fence between them", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.put(1, data, []byte{1})
			p.fenceIf(right)
			p.put(1, data, []byte{2})
		}
	}},
	{"an atomic and a plain store do not mix", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.atomic(1, data, 1)
			p.quiet()
			p.word(1, flag, 8, 1)
		} else {
			if right {
				p.wait(flag, fabric.Uint64, 1)
			}
			p.seg[data] = 1
		}
	}},
	{"an atomic and a plain store do not mix on small words", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.must(p.ep.Atomic(1, fabric.OpSum, fabric.Int16, data, 1))
			p.quiet()
			p.word(1, flag, 8, 1)
		} else {
			if right {
				p.wait(flag, fabric.Uint64, 1)
			}
			p.seg[data] = 1
		}
	}},
	{"a get and a store need something between them", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.get(1, data, 100)
			p.word(1, flag, 8, 1)
		} else {
			if right {
				p.wait(flag, fabric.Uint64, 1)
			}
			p.seg[data] = 1
		}
	}},
	{"a signal has to be waited for", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.must(p.ep.PutSignal(1, data, make([]byte, 100), flag, fabric.OpWrite, 1))
		} else {
			if right {
				p.wait(flag, fabric.Uint64, 1)
			}
			use(p.seg[data])
		}
	}},
	{"a signal brings its own data and no other", 2, func(p *prog, right bool) {
		if p.me == 0 {
			p.must(p.ep.PutSignal(1, data, make([]byte, 100), flag, fabric.OpSum, 1))
			p.fenceIf(right)
			p.must(p.ep.PutSignal(1, data+128, make([]byte, 100), flag2, fabric.OpWrite, 1))
		} else {
			p.wait(flag2, fabric.Uint64, 1)
			use(p.seg[data+128])
			use(p.seg[data])
		}
	}},
	{"a quiet is its endpoint's", 2, func(p *prog, right bool) {
		if p.me == 0 {
			other, err := p.dom.Endpoint()
			p.must(err)
			p.put(1, data, make([]byte, 100))
			if right {
				p.quiet()
			} else {
				p.must(other.Quiet())
			}
			p.must(other.PutWord(1, flag, 8, 1))
			p.must(other.Close())
		} else {
			p.wait(flag, fabric.Uint64, 1)
			use(p.seg[data])
		}
	}},
	{"a fence orders nothing between two targets", 3, func(p *prog, right bool) {
		switch p.me {
		case 0:
			p.put(1, data, make([]byte, 100))
			p.fence()
			p.quietIf(right)
			p.word(2, flag, 8, 1)
		case 2:
			p.wait(flag, fabric.Uint64, 1)
			p.get(1, data, 100)
		}
	}},
	{"the wrong flag orders nothing", 3, func(p *prog, right bool) {
		switch p.me {
		case 0:
			p.put(1, data, make([]byte, 100))
			p.fence()
			p.word(1, flag, 8, 1)
		case 2:
			p.word(1, flag2, 8, 1)
		case 1:
			p.wait(flag2, fabric.Uint64, 1)
			if right {
				p.wait(flag, fabric.Uint64, 1)
			}
			use(p.seg[data])
		}
	}},
	{"order is handed on by a third PE", 3, func(p *prog, right bool) {
		switch p.me {
		case 0:
			p.put(2, data, make([]byte, 100))
			p.quietIf(right)
			p.word(1, flag, 8, 1)
		case 1:
			p.wait(flag, fabric.Uint64, 1)
			p.atomic(2, flag, 1)
		case 2:
			p.wait(flag, fabric.Uint64, 1)
			use(p.seg[data])
		}
	}},
	{"goroutines of one PE need order too", 2, func(p *prog, right bool) {
		if p.me == 0 {
			src, written := make([]byte, 100), make(chan struct{})
			var writer sync.WaitGroup
			writer.Go(func() {
				src[0] = 1
				close(written)
			})
			if right {
				<-written
			}
			p.put(1, data, src)
			p.quiet()
			writer.Wait()
		}
	}},
	{"neighbouring small words are words of their own", 3, func(p *prog, right bool) {
		off := fabric.Addr(data + p.me)
		if !right {
			off = data
		}
		if p.me == 2 && !right {
			p.seg[off]++
			return
		}
		for range 3 {
			p.must(p.ep.Atomic(2, fabric.OpSum, fabric.Uint8, off, 1))
			p.word(2, off+8, 1, 1)
		}
		p.quiet()
		if p.me == 2 {
			p.seg[data+24]++
		}
	}},
}

// A prog is what one PE of a program has. Its errors end the process.
type prog struct {
	me  int
	dom fabric.Domain
	ep  *fabric.Extended
	seg []byte
}

func (p *prog) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("PE %d: %v", p.me, err))
	}
}

func (p *prog) put(pe int, off fabric.Addr, b []byte) { p.must(p.ep.Put(pe, off, b)) }
func (p *prog) get(pe int, off fabric.Addr, size int) { p.must(p.ep.Get(pe, make([]byte, size), off)) }

func (p *prog) word(pe int, off fabric.Addr, s uint8, v uint64) { p.must(p.ep.PutWord(pe, off, s, v)) }
func (p *prog) fence()                                          { p.must(p.ep.Fence()) }
func (p *prog) quiet()                                          { p.must(p.ep.Quiet()) }

func (p *prog) atomic(pe int, off fabric.Addr, v uint64) {
	p.must(p.ep.Atomic(pe, fabric.OpSum, fabric.Uint64, off, v))
}

func (p *prog) fenceIf(right bool) {
	if right {
		p.fence()
	}
}

func (p *prog) quietIf(right bool) {
	if right {
		p.quiet()
	}
}

func (p *prog) read(pe int, off fabric.Addr) uint64 {
	v, err := p.ep.FetchAtomic(pe, fabric.OpRead, fabric.Uint64, off, 0, 0)
	p.must(err)
	return v
}

func (p *prog) wait(off fabric.Addr, dt fabric.Datatype, v uint64) {
	p.must(p.dom.Wait(fabric.Cond{PE: p.me, Off: off, Type: dt, Cmp: fabric.CmpEQ, Value: v}))
}

//go:noinline
func use(byte) {}

// run runs the program once, on a world of its own.
func (x raceProgram) runOnce(t *testing.T, o loop.Options, right bool) {
	t.Helper()
	domains := open(t, x.n, o)
	var pes sync.WaitGroup
	for me, d := range domains {
		pes.Go(func() {
			ep, err := d.Endpoint()
			p := &prog{me: me, dom: d, ep: fabric.Extend(ep), seg: d.Map(me)}
			p.must(err)
			x.run(p, right)
			p.must(ep.Close())
		})
	}
	pes.Wait()
}

const (
	raceEnv  = "GOSHMEM_TEST_RACE_PROGRAMS"
	raceRuns = 10
)

// TestRacePrograms runs in a process of its own, where races may be reported.
// After each program's reports it prints in how many of the runs there were any.
func TestRacePrograms(t *testing.T) {
	if os.Getenv(raceEnv) == "" {
		return
	}
	for _, x := range racePrograms {
		for _, right := range []bool{true, false} {
			reported := 0
			for i := range raceRuns {
				o := loop.Options{SegmentSize: 4096, Seed: uint64(i)}
				if i%2 == 1 {
					o.MaxDelay = 100 * time.Microsecond
				}
				before := runtime.RaceErrors()
				x.runOnce(t, o, right)
				if runtime.RaceErrors() > before {
					reported++
				}
			}
			fmt.Fprintf(os.Stderr, "\nreports in %d runs of %q, right %v\n", reported, x.name, right)
		}
	}
}

// TestRace: the detector reports each mistake every time, and nothing else.
func TestRace(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRacePrograms$", "-test.count=1")
	cmd.Env = append(os.Environ(), raceEnv+"=1",
		// Report the same race again each time.
		"GORACE=atexit_sleep_ms=0 suppress_equal_stacks=0 suppress_equal_addresses=0")
	var out strings.Builder
	cmd.Stderr = &out
	_ = cmd.Run() // fails: there are races
	rest := out.String()
	for _, x := range racePrograms {
		for _, right := range []bool{true, false} {
			want := 0
			if !right {
				want = raceRuns
			}
			line := fmt.Sprintf("\nreports in %d runs of %q, right %v\n", want, x.name, right)
			reports, after, found := strings.Cut(rest, line)
			if !found {
				t.Fatalf("no line %q in what follows:\n%s", line, rest)
			}
			if !right && !strings.Contains(reports, "race_test.go") {
				t.Errorf("%s: no report names a line of the program:\n%s", x.name, reports)
			}
			rest = after
		}
	}
}
