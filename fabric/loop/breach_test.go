// SPDX-License-Identifier: BSD-3-Clause

//go:build !race

package loop_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/fabrictest"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
)

// A breach is a fabric that breaks what a row proves, by the world's faults or
// by a wrapper. The race detector would report most of them before the row does.
type breach struct {
	row    string
	faults loop.Faults
	wrap   func(pe int, d fabric.Domain) fabric.Domain // nil: as it is
	near   bool                                        // PEs are near each other
	busy   bool                                        // some PE never blocks, so that virtual time would stand still
	polls  bool                                        // the row gets until it hangs, a virtual minute long: with long delays, not half a million times
}

var breaches = []breach{
	{row: "put: copies every size between all alignments and nothing else", faults: drop(loop.Put, 4097)},
	{row: "get: copies every size between all alignments and nothing else", faults: drop(loop.Get, 4097)},
	{row: "put: src may be reused on return", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return lazyPut{ep} })},
	{row: "put, get: zero length is a no-op, also at the segment's end", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return noEmptyPut{ep} })},
	{row: "nbi: puts, gets and fetches are complete after quiet", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "strided: block by block, gaps untouched", faults: drop(loop.Put, 3)},
	{row: "vectored: part by part, of all sizes, and nothing else", faults: drop(loop.Put, 3)},

	{row: "put word: stores each size and leaves its neighbours", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return wideWord{ep} })},
	{row: "put word: is never torn", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return tornWord{ep} })},
	{row: "put words: stores them all, each untorn, and nothing else", faults: drop(loop.Word, 24)},
	{row: "note: all of it comes, and nothing else does", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return halfNote{ep} })},

	{row: "atomic: every native operation on every type does what Apply says", faults: loop.Faults{
		Drop: func(e loop.Event) bool { return e.Op == fabric.OpMswap && e.Size == 2 },
	}},
	{row: "atomic: what does not apply is refused", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return yesMan{ep} })},
	{row: "atomic: four PEs add to one word and none is lost", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return readThenWrite{ep} })},
	{row: "atomic: small words that share a word do not disturb each other", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return wideAtomic{ep} })},
	{row: "atomic: fetched sums are all different", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return readThenWrite{ep} })},
	{row: "atomic: of several compare-and-swaps one wins", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return readThenWrite{ep} })},

	{row: "fence: orders a put before a word", faults: loop.Faults{IgnoreFence: true}},
	{row: "fence: orders a put before an atomic", faults: loop.Faults{IgnoreFence: true}},
	{row: "fence: orders a non-blocking put before a word", faults: loop.Faults{IgnoreFence: true}},
	{row: "fence: orders a put before a fetching atomic", faults: loop.Faults{IgnoreFence: true}},
	{row: "fence: the last of several words stays", faults: loop.Faults{IgnoreFence: true}},
	{row: "quiet: completes puts so that a third PE sees them", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "quiet: completes words and atomics", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "quiet: is not starved by a busy neighbour on its endpoint", faults: loop.Faults{IgnoreQuiet: true}, busy: true},
	{row: "quiet: is not starved by a busy neighbour on another endpoint", faults: loop.Faults{IgnoreQuiet: true}, busy: true},
	{row: "quiet pes: completes puts so that a third PE sees them", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "quiet pes: completes words and atomics", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "quiet pes: puts, gets and fetches that do not wait are complete after it", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "quiet pes: is not starved by a busy neighbour on its endpoint", faults: loop.Faults{IgnoreQuiet: true}, busy: true},
	{row: "quiet pes: of none waits for nobody", faults: drop(loop.Word, 8)},
	{row: "put signal: the signal never shows before its data", faults: loop.Faults{SignalFirst: true}},
	{row: "put signal: without data it is a signal", faults: drop(loop.Signal, 8)},

	{row: "wait: every comparison at every width reads its own bytes alone", wrap: waits(func(d fabric.Domain, c fabric.Cond) error {
		c.Type ^= 1 // the same width with the other sign
		return d.Wait(c)
	})},
	{row: "wait: a condition that holds returns at once", wrap: waits(func(d fabric.Domain, c fabric.Cond) error {
		if c.Cmp == fabric.CmpLT {
			c.Cmp = fabric.CmpGT
		}
		return d.Wait(c)
	})},
	{row: "wait: a word put ends it", faults: drop(loop.Word, 8)},
	{row: "wait: an atomic ends it", faults: drop(loop.Atomic, 8)},
	{row: "wait: a fetching atomic ends it", faults: drop(loop.Fetch, 8)},
	{row: "wait: a put and a quiet end it", faults: drop(loop.Put, 8)},
	{row: "wait: a signal ends it", faults: drop(loop.Signal, 8)},
	{row: "wait: an own goroutine's store and wake end it", wrap: func(_ int, d fabric.Domain) fabric.Domain { return noWake{d} }},
	{row: "wait: a near PE's store and wake end it", near: true, wrap: elsewhere},
	{row: "wait: a wake of all near PEs ends it", near: true, wrap: elsewhere},
	{row: "wait: a bare store ends it in the end", near: true, wrap: elsewhere},
	{row: "wait: a near PE's word can be waited for", near: true, wrap: waits(func(d fabric.Domain, c fabric.Cond) error {
		c.PE = 0
		return d.Wait(c)
	})},
	{row: "wait: sleepers are seen by near PEs", near: true, wrap: waits(func(fabric.Domain, fabric.Cond) error {
		return errors.New("no wait, and so no sleeper")
	}), busy: true},
	{row: "wait: shows what was visible before the update", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "wait: a thousand goroutines of one PE", faults: loop.Faults{
		Drop: func(e loop.Event) bool { return e.Kind == loop.Word && e.Off == 8*500 },
	}},

	{row: "wait any: every comparison at every width reads its own bytes alone", wrap: waitsAny(func(c *fabric.Conds) { c.Type ^= 1 })},
	{row: "wait any: a set that holds returns at once", wrap: waitsAny(func(c *fabric.Conds) { c.N = 1 })},
	{row: "wait any: whichever word changes ends it", wrap: waitsAny(func(c *fabric.Conds) { c.N-- })},
	{row: "wait any: each word has its own value", wrap: waitsAny(func(c *fabric.Conds) { c.Value, c.Values = 2, nil })},
	{row: "wait any: skipped words do not end it", wrap: waitsAny(func(c *fabric.Conds) { c.Skip = nil })},
	{row: "wait any: a stop and a wake end it", wrap: waitsAny(func(c *fabric.Conds) { c.Stop = nil })},
	{row: "wait any: shows what was visible before the update", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "wait any: a thousand goroutines of one PE", faults: loop.Faults{
		Drop: func(e loop.Event) bool { return e.Kind == loop.Word && e.Off == 8*500 },
	}},
	{row: "look: every comparison at every width reads its own bytes alone", wrap: func(_ int, d fabric.Domain) fabric.Domain { return signless{d} }},
	{row: "look: shows what was visible before the update", faults: loop.Faults{IgnoreFence: true}},

	{row: "endpoint: many goroutines use one at once", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "endpoint: many goroutines use one each at once", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "endpoint: close completes what is outstanding", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "abort: ends present and future waits of all PEs", wrap: waits(func(d fabric.Domain, c fabric.Cond) error {
		_ = d.Wait(c)
		return nil
	})},
	{row: "close: segments stay mapped", wrap: func(pe int, d fabric.Domain) fabric.Domain { return scribbler{d, pe} }},

	{row: "batch: puts of every size between all alignments and nothing else", faults: drop(loop.Put, 4097)},
	{row: "batch: src may be reused on return", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return lazyPut{ep} })},
	{row: "batch: words of each size leave their neighbours", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return wideWord{ep} })},
	{row: "batch: words are never torn", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return tornWord{ep} })},
	{row: "batch: every native operation on every type does what Apply says", faults: drop(loop.Atomic, 2)},
	{row: "batch: four PEs add to one word and none is lost", wrap: ends(func(ep *fabric.Extended) fabric.Endpoint { return readThenWrite{ep} })},
	{row: "batch: fence orders a put before a word", faults: loop.Faults{IgnoreFence: true}},
	{row: "batch: fence orders a put before an atomic", faults: loop.Faults{IgnoreFence: true}},
	{row: "batch: quiet completes puts so that a third PE sees them", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "batch: quiet completes words and atomics", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "batch: quiet pes completes words and atomics", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "batch: many goroutines use one endpoint at once", faults: loop.Faults{IgnoreQuiet: true}},
	{row: "batch: leaves by itself", faults: loop.Faults{HoldBatches: true}},
	{row: "batch: leaves when it is closed", faults: loop.Faults{KeepBatches: true}},
	{row: "batch: leaves when the PE waits", faults: loop.Faults{KeepBatches: true}},
	{row: "batch: leaves when the PE waits for one of several words", faults: loop.Faults{KeepBatches: true}},
	{row: "batch: leaves when the PE gets", faults: loop.Faults{KeepBatches: true}, polls: true},
	{row: "batch: leaves when the PE fetches", faults: loop.Faults{KeepBatches: true}, polls: true},
	{row: "batch: leaves when its endpoint is closed", faults: loop.Faults{IgnoreQuiet: true}},
}

// TestRows_CanFail: each row finds the breach of its sentence.
func TestRows_CanFail(t *testing.T) {
	shown := make(map[string]bool)
	for _, b := range breaches {
		shown[b.row] = true
		factory := func(t *testing.T, n int, segment uintptr) []fabric.Domain {
			t.Helper()
			o := loop.Options{SegmentSize: segment, Seed: 5, MaxDelay: 200 * time.Microsecond, Faults: b.faults}
			if b.polls {
				o.MaxDelay = 20 * time.Millisecond
			}
			if b.near {
				o.NodeSize = n
			}
			domains := open(t, n, o)
			for pe, d := range domains {
				if b.wrap != nil {
					domains[pe] = b.wrap(pe, d)
				}
			}
			return domains
		}
		t.Run(b.row, func(t *testing.T) {
			check := func(t *testing.T) {
				t.Helper()
				err := fabrictest.Check(t, factory, b.row)
				if err == nil {
					t.Error("the row passes")
				}
				t.Log(err)
			}
			if b.busy {
				check(t)
			} else {
				synctest.Test(t, check) // a row that hangs gives up at once
			}
		})
	}
	for _, row := range fabrictest.Rows(true, !race.Enabled) {
		if !shown[row] {
			t.Errorf("nothing shows that row %q can fail", row)
		}
	}
}

func drop(kind loop.Kind, size int) loop.Faults {
	return loop.Faults{Drop: func(e loop.Event) bool { return e.Kind == kind && e.Size == size }}
}

// ends wraps the endpoints of a domain.
func ends(wrap func(*fabric.Extended) fabric.Endpoint) func(int, fabric.Domain) fabric.Domain {
	return func(_ int, d fabric.Domain) fabric.Domain { return endsDomain{d, wrap} }
}

type endsDomain struct {
	fabric.Domain
	wrap func(*fabric.Extended) fabric.Endpoint
}

func (d endsDomain) Endpoint() (fabric.Endpoint, error) {
	ep, err := d.Domain.Endpoint()
	if err != nil {
		return nil, err
	}
	return d.wrap(fabric.Extend(ep)), nil
}

// waits replaces Wait.
func waits(wait func(fabric.Domain, fabric.Cond) error) func(int, fabric.Domain) fabric.Domain {
	return func(_ int, d fabric.Domain) fabric.Domain { return waitsDomain{d, wait} }
}

type waitsDomain struct {
	fabric.Domain
	wait func(fabric.Domain, fabric.Cond) error
}

func (d waitsDomain) Wait(c fabric.Cond) error { return d.wait(d.Domain, c) }

// waitsAny makes WaitAny wait for something else.
func waitsAny(change func(*fabric.Conds)) func(int, fabric.Domain) fabric.Domain {
	return func(_ int, d fabric.Domain) fabric.Domain { return waitsAnyDomain{d, change} }
}

type waitsAnyDomain struct {
	fabric.Domain
	change func(*fabric.Conds)
}

func (d waitsAnyDomain) WaitAny(c fabric.Conds) error {
	d.change(&c)
	return d.Domain.WaitAny(c)
}

// signless looks at words with the other sign.
type signless struct{ fabric.Domain }

func (d signless) Look(c fabric.Cond) bool {
	c.Type ^= 1
	return d.Domain.Look(c)
}

type noWake struct{ fabric.Domain }

func (noWake) Wake(int) {}

// elsewhere maps copies of the other PEs' segments.
func elsewhere(pe int, d fabric.Domain) fabric.Domain { return elsewhereDomain{d, pe} }

type elsewhereDomain struct {
	fabric.Domain
	me int
}

func (d elsewhereDomain) Map(pe int) []byte {
	seg := d.Domain.Map(pe)
	if pe != d.me {
		seg = bytes.Clone(seg)
	}
	return seg
}

type scribbler struct {
	fabric.Domain
	me int
}

func (d scribbler) Close() error {
	d.Map(d.me)[1000]++
	return d.Domain.Close()
}

// lazyPut leaves src to the NIC.
type lazyPut struct{ *fabric.Extended }

func (e lazyPut) Put(pe int, dst fabric.Addr, src []byte) error { return e.PutNBI(pe, dst, src) }

type noEmptyPut struct{ *fabric.Extended }

func (e noEmptyPut) Put(pe int, dst fabric.Addr, src []byte) error {
	if len(src) == 0 {
		return errors.New("put of nothing")
	}
	return e.Extended.Put(pe, dst, src)
}

// wideWord stores a byte more than it should.
type wideWord struct{ *fabric.Extended }

func (e wideWord) PutWord(pe int, dst fabric.Addr, size uint8, v uint64) error {
	if size == 2 {
		return e.Put(pe, dst, []byte{byte(v), byte(v >> 8), 0})
	}
	return e.Extended.PutWord(pe, dst, size, v)
}

// halfNote leaves out the first word.
type halfNote struct{ *fabric.Extended }

func (e halfNote) Notify(pe int, dst fabric.Addr, words []uint64) error {
	return e.PutWords(pe, dst, words[1:])
}

// tornWord stores 8 bytes in two halves.
type tornWord struct{ *fabric.Extended }

func (e tornWord) PutWord(pe int, dst fabric.Addr, size uint8, v uint64) error {
	if size < 8 {
		return e.Extended.PutWord(pe, dst, size, v)
	}
	var b [8]byte
	fabric.PutBits(b[:], v)
	if err := e.Put(pe, dst, b[:4]); err != nil {
		return err
	}
	return e.Put(pe, dst+4, b[4:])
}

// yesMan does not object to operations that do not apply.
type yesMan struct{ *fabric.Extended }

func (e yesMan) Atomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v uint64) error {
	if !fabric.Applies(op, dt) {
		return nil
	}
	return e.Extended.Atomic(pe, op, dt, dst, v)
}

// readThenWrite makes atomics of two operations.
type readThenWrite struct{ *fabric.Extended }

func (e readThenWrite) Atomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v uint64) error {
	_, err := e.FetchAtomic(pe, op, dt, dst, v, 0)
	return err
}

func (e readThenWrite) FetchAtomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v, cmp uint64) (uint64, error) {
	old, err := e.Extended.FetchAtomic(pe, fabric.OpRead, dt, dst, 0, 0)
	if err != nil || op == fabric.OpRead {
		return old, err
	}
	if err := e.PutWord(pe, dst, dt.Size(), fabric.Apply(op, dt, old, v, cmp)); err != nil {
		return 0, err
	}
	return old, e.Quiet()
}

// wideAtomic makes a byte's atomic of two operations on the word around it.
type wideAtomic struct{ *fabric.Extended }

func (e wideAtomic) Atomic(pe int, op fabric.Op, dt fabric.Datatype, dst fabric.Addr, v uint64) error {
	if dt != fabric.Uint8 {
		return e.Extended.Atomic(pe, op, dt, dst, v)
	}
	all, err := e.FetchAtomic(pe, fabric.OpRead, fabric.Uint32, dst&^3, 0, 0)
	if err != nil {
		return err
	}
	var b [4]byte
	fabric.PutBits(b[:], all)
	b[dst&3] = byte(fabric.Apply(op, dt, uint64(b[dst&3]), v, 0))
	return e.Put(pe, dst&^3, b[:])
}
