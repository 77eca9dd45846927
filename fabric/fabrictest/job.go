// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goshmem/goshmem/fabric"
)

// patience is how long a row may take; it is there for rows that hang.
const patience = time.Minute

// A job is the connected domains of a row's PEs.
type job struct {
	domains  []fabric.Domain
	segments [][]byte
	ctx      context.Context
	fail     context.CancelCauseFunc // ends ctx with the first failure
	seen     atomic.Int64            // for rows whose PEs need a word beside the fabric

	mu      sync.Mutex
	arrived int           // PEs in sync
	turn    chan struct{} // closed when all have arrived
}

// connect opens and connects n domains.
func connect(t *testing.T, open Factory, n int, segment uintptr) *job {
	t.Helper()
	j := &job{domains: open(t, n, segment), turn: make(chan struct{})}
	if len(j.domains) != n {
		t.Fatalf("the factory opened %d domains, want %d", len(j.domains), n)
	}
	j.ctx, j.fail = context.WithCancelCause(context.Background())
	blobs := make([][]byte, n)
	for i, d := range j.domains {
		seg := d.Map(i)
		if seg == nil {
			seg = make([]byte, segment)
		}
		if uintptr(len(seg)) != segment {
			t.Fatalf("PE %d: the segment has %d bytes, want %d", i, len(seg), segment)
		}
		blob, err := d.Register(seg)
		if err != nil {
			t.Fatalf("PE %d: register: %v", i, err)
		}
		if len(blob) > 1<<10 {
			t.Fatalf("PE %d: a blob of %d bytes, at most 1024 are allowed", i, len(blob))
		}
		j.segments = append(j.segments, seg)
		blobs[i] = blob
	}
	for i, d := range j.domains {
		if err := d.Connect(fabric.NewTable(blobs)); err != nil {
			t.Fatalf("PE %d: connect: %v", i, err)
		}
	}
	return j
}

func (j *job) close() error {
	var errs []error
	for i, d := range j.domains {
		if err := d.Close(); err != nil {
			errs = append(errs, fmt.Errorf("PE %d: close: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// A pe is a PE's view of the job: what a row's program gets.
type pe struct {
	*job
	me  int
	dom fabric.Domain
	ep  *fabric.Extended
	seg []byte // the own segment

	aborted bool // the row has aborted the job: its endpoints end with errors
}

// failure is what a row's program panics with.
type failure struct{ error }

// run runs program as every PE and returns the first failure.
func (j *job) run(program func(*pe)) error {
	watchdog := time.AfterFunc(patience, func() {
		j.stop(fmt.Errorf("not done after %v", patience))
	})
	defer watchdog.Stop()
	var pes sync.WaitGroup
	for i := range j.domains {
		pes.Go(func() {
			p := &pe{job: j, me: i, dom: j.domains[i], seg: j.segments[i]}
			p.guard(func() {
				p.ep = p.endpoint()
				program(p)
				if err := p.ep.Close(); !p.aborted {
					p.must(err)
				}
			})
		})
	}
	ended := make(chan struct{})
	go func() {
		pes.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return context.Cause(j.ctx)
	case <-j.ctx.Done():
	}
	select {
	case <-ended:
		return context.Cause(j.ctx)
	case <-time.After(patience):
		return fmt.Errorf("%w; and Abort did not end the other PEs within %v", context.Cause(j.ctx), patience)
	}
}

// stop ends the row with err.
func (j *job) stop(err error) {
	j.fail(err)
	for _, d := range j.domains {
		d.Abort(err)
	}
}

// guard runs f, and ends the row if it fails.
func (p *pe) guard(f func()) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case failure:
			p.stop(fmt.Errorf("PE %d: %w", p.me, v.error))
		default:
			panic(v)
		}
	}()
	f()
}

// failf ends the row. It does not return.
func (p *pe) failf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// must ends the row if err is not nil.
func (p *pe) must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// pause belongs in loops that wait for someone else's doing.
func (p *pe) pause() {
	p.must(p.ctx.Err())
	p.must(p.ep.Progress())
	runtime.Gosched()
}

// endpoint opens another endpoint of p.
func (p *pe) endpoint() *fabric.Extended {
	ep, err := p.dom.Endpoint()
	p.must(err)
	return fabric.Extend(ep)
}

// sync waits until every PE has called it. It uses no fabric: what a row proves
// must not depend on more than it says.
func (p *pe) sync() {
	p.mu.Lock()
	turn := p.turn
	if p.arrived++; p.arrived == len(p.domains) {
		p.arrived = 0
		p.turn = make(chan struct{})
		close(turn)
	}
	p.mu.Unlock()
	select {
	case <-turn:
	case <-p.ctx.Done():
		p.must(p.ctx.Err())
	}
}

// together runs f(0) … f(n-1) on goroutines of PE p and waits for them.
func (p *pe) together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { p.guard(func() { f(i) }) })
	}
	all.Wait()
	p.must(context.Cause(p.ctx))
}

// each runs f(0) … f(n-1) on a few goroutines, for programs that would else wait
// for one operation after the other.
func (p *pe) each(n int, f func(i int)) {
	const goroutines = 16
	p.together(goroutines, func(g int) {
		for i := g; i < n; i += goroutines {
			f(i)
		}
	})
}

// wait waits until the uint64 at off of the own segment compares with v.
func (p *pe) wait(off fabric.Addr, cmp fabric.Cmp, v uint64) {
	p.must(p.dom.Wait(fabric.Cond{PE: p.me, Off: off, Type: fabric.Uint64, Cmp: cmp, Value: v}))
}

// quiet completes what the PE's endpoint has under way.
func (p *pe) quiet() { p.must(p.ep.Quiet()) }

// quietPEs returns a function that does so for some targets.
func (p *pe) quietPEs(targets ...int) func() {
	return func() { p.must(p.ep.QuietPEs(targets)) }
}

// read returns the dt-typed word at off of PE target, by an atomic read.
func (p *pe) read(target int, dt fabric.Datatype, off fabric.Addr) uint64 {
	v, err := p.ep.FetchAtomic(target, fabric.OpRead, dt, off, 0, 0)
	p.must(err)
	return v
}

// equal ends the row if two ranges differ; off is where got starts.
func (p *pe) equal(what string, off int, got, want []byte) {
	if len(got) != len(want) {
		p.failf("%s: %d bytes, want %d", what, len(got), len(want))
	}
	if bytes.Equal(got, want) {
		return
	}
	for i := range got {
		if got[i] != want[i] {
			p.failf("%s: byte %d is %#x, want %#x", what, off+i, got[i], want[i])
		}
	}
}

// next returns the PE after p.
func (p *pe) next() int { return (p.me + 1) % len(p.domains) }

// fill fills b with a pattern that differs from byte to byte, and between seeds.
func fill(b []byte, seed int) {
	const period = 1021
	x := uint32(seed)*2654435761 + 12345
	for i := range b[:min(period, len(b))] {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	for n := period; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
