// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// batching returns an endpoint with an open batch.
func batching(t testing.TB, d *Domain) *Endpoint {
	t.Helper()
	e := endpoint(t, d)
	require.NoError(t, e.Batch(true))
	return e
}

// TestBatch_PutsOfEverySize: whatever is collected arrives, and nothing else is written.
func TestBatch_PutsOfEverySize(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			e := batching(t, p.domain)
			want := make([]byte, 1<<20)
			at := 1
			for size := 1; size <= 1000; size++ { // some too long to be collected
				fill(want[at:at+size], size)
				require.NoError(t, e.Put(1, fabric.Addr(at), want[at:at+size]))
				at += size + 3
			}
			require.NoError(t, e.Quiet())
			got := make([]byte, len(want))
			require.NoError(t, e.Get(1, got, 0))
			require.True(t, bytes.Equal(want, got))
			s := p.domain.Stats()
			require.EqualValues(t, maxSmall, s.Records)
			require.EqualValues(t, 1000-maxSmall, s.Writes)
			require.Less(t, s.Batches, s.Records/2)
		})
	}
}

// TestBatch_AtomicsDoWhatApplyDoes: each plain operation on each type, whether it is
// collected or not.
func TestBatch_AtomicsDoWhatApplyDoes(t *testing.T) {
	values := map[bool][]uint64{
		true: {0, 1, 3, 0x7f, 0x80, 0xff, 0x8000, 0xfffe, 1 << 31, 1<<32 - 1, 1 << 63, math.MaxUint64, 0x0123456789abcdef},
		false: {
			0, 1 << 63, math.Float64bits(1.5), math.Float64bits(-3), uint64(math.Float32bits(2.5)), uint64(math.Float32bits(-7))<<32 | uint64(math.Float32bits(0.25)),
		},
	}
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			e := batching(t, p.domain)
			want := make([]byte, peerSegment)
			off := fabric.Addr(0)
			ops := 0
			for op := range fabric.Op(fabric.NumOps) {
				for dt := range fabric.Datatype(fabric.NumDatatypes) {
					if op.Compares() || op == fabric.OpRead || !fabric.Applies(op, dt) {
						continue
					}
					for _, old := range values[dt.Integer()] {
						for range values[dt.Integer()] {
							ops++
							word := want[off:][:dt.Size()]
							fabric.PutBits(word, old)
							require.NoError(t, e.Put(1, off, word))
							off += 8
						}
					}
				}
			}
			require.NoError(t, e.Fence())
			off = 0
			for op := range fabric.Op(fabric.NumOps) {
				for dt := range fabric.Datatype(fabric.NumDatatypes) {
					if op.Compares() || op == fabric.OpRead || !fabric.Applies(op, dt) {
						continue
					}
					for _, old := range values[dt.Integer()] {
						for _, v := range values[dt.Integer()] {
							require.NoError(t, e.Atomic(1, op, dt, off, v))
							fabric.PutBits(want[off:][:dt.Size()], fabric.Apply(op, dt, old, v, 0))
							off += 8
						}
					}
				}
			}
			require.NoError(t, e.Quiet())
			got := make([]byte, peerSegment)
			require.NoError(t, e.Get(1, got, 0))
			if !bytes.Equal(want, got) {
				i := 0
				for bytes.Equal(got[8*i:][:8], want[8*i:][:8]) {
					i++
				}
				t.Errorf("word %d is %x, want %x", i, got[8*i:][:8], want[8*i:][:8])
			}
			require.Greater(t, p.domain.Stats().Records, uint64(ops))
		})
	}
}

// TestBatch_TakesAFewPosts: ten times as few as operations, and far fewer.
func TestBatch_TakesAFewPosts(t *testing.T) {
	const n = 10000
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			e := batching(t, p.domain)
			for i := range uint64(n) {
				require.NoError(t, e.PutWord(1, 8*fabric.Addr(i%1000), 8, i))
				require.NoError(t, e.Atomic(1, fabric.OpSum, fabric.Uint64, 8000, 1))
			}
			require.NoError(t, e.Quiet())
			s := p.domain.Stats()
			require.EqualValues(t, 2*n, s.Records)
			require.Zero(t, s.Writes+s.Atomics)
			require.Less(t, 10*s.Batches, s.Records)
			sum, err := e.FetchAtomic(1, fabric.OpSum, fabric.Uint64, 8000, 0, 0)
			require.NoError(t, err)
			require.EqualValues(t, n, sum)

			require.NoError(t, e.Batch(false))
			require.NoError(t, e.PutWord(1, 0, 8, 7))
			require.NoError(t, e.Quiet())
			require.EqualValues(t, 2*n, p.domain.Stats().Records, "no batch is open")
		})
	}
}

// TestBatch_FenceOrders: what is collected before a fence is there before what is
// posted by itself after it, and the other way round.
func TestBatch_FenceOrders(t *testing.T) {
	p := startPeer(t, tested[0], "serve")
	e, other := batching(t, p.domain), endpoint(t, p.domain)
	long := make([]byte, 3000)
	for i := range uint64(200) {
		fill(long, int(i))
		require.NoError(t, e.Put(1, 1024, long))
		require.NoError(t, e.Fence())
		require.NoError(t, e.PutWord(1, 0, 8, i+1))
		for {
			v, err := other.FetchAtomic(1, fabric.OpRead, fabric.Uint64, 0, 0, 0)
			require.NoError(t, err)
			if v == i+1 {
				break
			}
		}
		got := make([]byte, len(long))
		require.NoError(t, other.Get(1, got, 1024))
		require.True(t, bytes.Equal(long, got), "message %d", i)
	}
}

// TestBatch_ManyGoroutines: each counts on words of its own and on one that all share.
func TestBatch_ManyGoroutines(t *testing.T) {
	const goroutines, each = 32, 500
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			d := connected(t, provider(o, 3), 3, small)
			e := batching(t, d[0])
			var all sync.WaitGroup
			for g := range goroutines {
				all.Go(func() {
					for i := range each {
						pe := 1 + i%2
						if e.Atomic(pe, fabric.OpSum, fabric.Uint64, 0, 1) != nil || e.Atomic(pe, fabric.OpSum, fabric.Uint32, fabric.Addr(64+4*g), 1) != nil {
							t.Error("add")
						}
						if i%100 == 99 && e.Quiet() != nil {
							t.Error("quiet")
						}
					}
				})
			}
			all.Wait()
			require.NoError(t, e.Quiet())
			for pe := 1; pe <= 2; pe++ {
				require.EqualValues(t, goroutines*each/2, d[pe].word(0).load(8))
				for g := range goroutines {
					require.EqualValues(t, each/2, d[pe].word(fabric.Addr(64+4*g)).load(4))
				}
			}
		})
	}
}

// TestBatch_StoppedPE: a PE that stands keeps only those waiting who have something for it.
func TestBatch_StoppedPE(t *testing.T) {
	p := startPeer(t, tested[0], "serve")
	e := batching(t, p.domain)
	require.NoError(t, e.PutWord(1, 0, 8, 1))
	require.NoError(t, e.Quiet())
	p.stop(t)
	const n = 40000 // more than are under way at once
	posted := make(chan error, 1)
	go func() {
		for range n {
			if err := e.Atomic(1, fabric.OpSum, fabric.Uint64, 8, 1); err != nil {
				posted <- err
				return
			}
		}
		posted <- e.Quiet()
	}()
	self := batching(t, p.domain)
	for range 1000 {
		require.NoError(t, self.Atomic(0, fabric.OpSum, fabric.Uint64, 0, 1))
	}
	require.NoError(t, self.Quiet())
	require.EqualValues(t, 1000, p.domain.word(0).load(8))
	select {
	case err := <-posted:
		t.Fatalf("quiet returned while PE 1 stands: %v", err)
	default:
	}
	p.resume(t)
	require.NoError(t, <-posted)
	v, err := e.FetchAtomic(1, fabric.OpSum, fabric.Uint64, 8, 0, 0)
	require.NoError(t, err)
	require.EqualValues(t, n, v)
}

// TestBatch_DeadPE: what was on its way to a PE that dies ends with an error that names it,
// and nothing hangs.
func TestBatch_DeadPE(t *testing.T) {
	for _, o := range tested {
		o.ConnectTimeout = time.Second
		for name, before := range map[string]func(e *Endpoint, d *Domain){
			"before anybody notices": func(*Endpoint, *Domain) {},
			"when its answer is late": func(e *Endpoint, d *Domain) {
				for reads := d.Stats().Reads; d.Stats().Reads == reads; { // until it is probed
					_ = e.Progress()
				}
			},
		} {
			t.Run(o.Provider+" "+name, func(t *testing.T) {
				p := startPeer(t, o, "serve")
				e := batching(t, p.domain)
				require.NoError(t, e.PutWord(1, 0, 8, 1))
				require.NoError(t, e.Quiet())
				p.stop(t)
				// Each may go out by itself, and of more batches than may be under way one would wait.
				for i := range 8 {
					require.NoError(t, e.PutWord(1, 8*fabric.Addr(i), 8, 1))
				}
				require.NoError(t, e.flush()) // the connection takes it
				before(e, p.domain)
				p.kill(t)
				ended := make(chan error, 1)
				go func() { ended <- e.Quiet() }()
				select {
				case err := <-ended:
					require.ErrorContains(t, err, "PE 1")
				case <-time.After(time.Minute):
					t.Error("quiet waits for a dead PE")
				}
				p.domain.Abort(errClosed) // so that the helper does not wait for PE 1's end
			})
		}
	}
}

// TestBatch_NoMessages: without them it is a hint that nobody takes.
func TestBatch_NoMessages(t *testing.T) {
	p := provider(tested[0], 2)
	p.lab = lab{noMessages: true}
	d := connected(t, p, 2, small)
	e := batching(t, d[0])
	require.NoError(t, e.PutWord(1, 0, 8, 5))
	require.NoError(t, e.Put(1, 8, make([]byte, 3)))
	require.NoError(t, e.Quiet())
	require.Equal(t, Stats{Writes: 1, InjectedWrites: 1, Atomics: 1}, d[0].Stats())
	require.EqualValues(t, 5, d[1].word(0).load(8))
}

// TestBatch_RefusesRanges: outside the segment nothing is collected.
func TestBatch_RefusesRanges(t *testing.T) {
	d := connected(t, provider(tested[0], 2), 2, small)
	e := batching(t, d[0])
	require.ErrorContains(t, e.Put(1, small-4, make([]byte, 8)), "outside its segment")
	require.ErrorContains(t, e.PutWord(1, small, 8, 1), "outside its segment")
	require.ErrorContains(t, e.Put(2, 0, make([]byte, 8)), "no PE 2")
	require.ErrorContains(t, e.Atomic(-1, fabric.OpSum, fabric.Uint64, 0, 1), "no PE -1")
	require.NoError(t, e.Close())
	require.ErrorIs(t, e.Put(1, 0, make([]byte, 8)), errClosed)
	require.ErrorIs(t, e.Batch(true), errClosed)
}

// TestBatch_AllocatesNothing: not for a put, nor for an atomic.
func TestBatch_AllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	d := connected(t, provider(tested[0], 2), 2, small)
	e := fabric.Extend(batching(t, d[0]))
	src := make([]byte, 24)
	require.NoError(t, e.Put(1, 0, src))
	require.Zero(t, testing.AllocsPerRun(2000, func() {
		_ = e.Put(1, 0, src)
		_ = e.PutNBI(1, 32, src[:8])
		_ = e.PutWord(1, 64, 4, 1)
		_ = e.Atomic(1, fabric.OpSum, fabric.Float64, 72, 1)
	}))
	require.NoError(t, e.Quiet())
}

// A record as it is in a letter.
func record(off fabric.Addr, code int, rest []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(off)<<16|uint64(code)), rest...)
}

// FuzzRecords: whatever comes in a letter, only the segment is written to, and what makes no sense ends it.
func FuzzRecords(f *testing.F) {
	const size, margin = 4096, 1024
	atomic := func(op fabric.Op, dt fabric.Datatype) int { return recordAtomic | fiOps[op]<<4 | int(dt) }
	f.Add(record(0, 8, make([]byte, 8)))
	f.Add(record(size-8, 8, []byte("abcdefgh")))
	f.Add(record(size-7, 8, make([]byte, 8)))
	f.Add(record(1<<47, 8, make([]byte, 8)))
	f.Add(record(1<<48-1, 512, make([]byte, 512)))
	f.Add(record(0, 513, make([]byte, 520)))
	f.Add(record(0, 512, make([]byte, 8)))
	f.Add(record(0, 0, make([]byte, 8)))
	f.Add(record(8, atomic(fabric.OpSum, fabric.Uint64), make([]byte, 8)))
	f.Add(record(4, atomic(fabric.OpSum, fabric.Uint64), make([]byte, 8)))
	f.Add(record(size, atomic(fabric.OpWrite, fabric.Uint8), make([]byte, 8)))
	f.Add(record(size-1, atomic(fabric.OpProd, fabric.Int8), make([]byte, 8)))
	f.Add(record(0, atomic(fabric.OpCswap, fabric.Uint64), make([]byte, 8)))
	f.Add(record(0, atomic(fabric.OpMax, fabric.Float64), make([]byte, 8)))
	f.Add(record(0, recordAtomic|15, make([]byte, 8)))
	f.Add(record(0, recordAtomic|1<<14, make([]byte, 8)))
	f.Add(slices.Concat(record(0, 3, make([]byte, 8)), record(8, 9, make([]byte, 16)), []byte{1}))
	d, memory := mailbox(f, size, margin)
	f.Fuzz(func(t *testing.T, b []byte) {
		at := d.shim.records(b)
		if at >= len(b) {
			t.Errorf("%d bytes of %d make sense", at, len(b))
		}
		for i := range margin {
			if memory[i] != 0x5a || memory[margin+size+i] != 0x5a {
				t.Fatalf("% x writes outside the segment", b)
			}
		}
	})
}

// mailbox returns a domain that receives records, and its segment amid a margin.
func mailbox(t testing.TB, size, margin int) (*Domain, []byte) {
	t.Helper()
	memory := bytes.Repeat([]byte{0x5a}, size+2*margin)
	x, err := New(tested[0]).Open(fabric.Job{NPEs: 1, SegmentSize: uintptr(size)})
	require.NoError(t, err)
	d := x.(*Domain)
	blob, err := d.Register(memory[margin : margin+size])
	require.NoError(t, err)
	require.NoError(t, d.Connect(fabric.NewTable([][]byte{blob})))
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, memory
}

// TestRecords_RefusesWhatMakesNoSense: each record, and where it is found out.
func TestRecords_RefusesWhatMakesNoSense(t *testing.T) {
	const size = 4096
	d, _ := mailbox(t, size, 64)
	eight := make([]byte, 8)
	add := recordAtomic | fiOps[fabric.OpSum]<<4 | int(fabric.Uint64)
	good := record(16, add, []byte{2, 0, 0, 0, 0, 0, 0, 0})
	require.Equal(t, -1, d.shim.records(good))
	require.EqualValues(t, 0x5a5a5a5a5a5a5a5c, d.word(16).load(8))
	require.Equal(t, -1, d.shim.records(nil))
	for name, bad := range map[string][]byte{
		"half a record":               record(0, 8, eight[:4]),
		"a put of no bytes":           record(0, 0, eight),
		"a put of 513 bytes":          record(0, 513, make([]byte, 520)),
		"a put cut short":             record(0, 24, make([]byte, 16)),
		"a put behind the segment":    record(size, 1, eight),
		"a put that reaches out":      record(size-7, 8, eight),
		"a put far away":              record(1<<48-8, 8, eight),
		"a word out of line":          record(4, add, eight),
		"a word behind the segment":   record(size, add, eight),
		"a fetching operation":        record(0, recordAtomic|fiOps[fabric.OpRead]<<4|int(fabric.Uint64), eight),
		"a comparing operation":       record(0, recordAtomic|fiOps[fabric.OpCswap]<<4|int(fabric.Uint64), eight),
		"no operation":                record(0, recordAtomic|31<<4|int(fabric.Uint64), eight),
		"bits of a float":             record(0, recordAtomic|fiOps[fabric.OpBor]<<4|int(fabric.Float64), eight),
		"no type":                     record(0, recordAtomic|15, eight),
		"bits that mean nothing":      record(0, add|1<<9, eight),
		"more bits that mean nothing": record(0, add|1<<14, eight),
	} {
		before := bytes.Clone(d.segment)
		require.Equal(t, 0, d.shim.records(bad), name)
		require.True(t, bytes.Equal(before, d.segment), name)
		require.Equal(t, 16, d.shim.records(append(bytes.Clone(good), bad...)), name)
	}
}

// TestStranger_SendsBatches: without the target's token a batch does nothing, and nobody answers.
func TestStranger_SendsBatches(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			d := openAll(t, provider(o, 2), 2, small)
			blobs := register(t, d, func(int) []byte { return make([]byte, small) })
			b, err := decodeBlob(blobs[1])
			require.NoError(t, err)
			b.token ^= 1 << 63
			forged, err := b.encode()
			require.NoError(t, err)
			blobs[1] = forged
			connect(t, d, blobs)
			e := batching(t, d[0])
			require.NoError(t, e.PutWord(1, 0, 8, 7))
			require.NoError(t, e.flush())
			other := endpoint(t, d[0])
			for i := range uint64(100) { // behind it, on the same connection
				require.NoError(t, other.PutWord(1, 8, 8, i))
				require.NoError(t, other.Quiet())
			}
			require.Zero(t, d[1].word(0).load(8))
			require.Zero(t, d[1].Stats().Acks)
			require.NoError(t, d[1].ended())
			require.NoError(t, other.Close())
			d[0].Abort(errClosed) // its batch is never acknowledged
		})
	}
}

// TestBatch_MalformedEndsTheJob: with the token, and nonsense, it is said who sent it.
func TestBatch_MalformedEndsTheJob(t *testing.T) {
	d := connected(t, provider(tested[0], 2), 2, small)
	e := batching(t, d[0])
	b, err := e.boxOf(1)
	require.NoError(t, err)
	taken, err := e.room(b, 16)
	require.NoError(t, err)
	require.True(t, taken)
	b.addWord(small<<16|8, 1)
	require.NoError(t, e.collected(b))
	require.NoError(t, e.flush())
	require.ErrorContains(t, d[1].Wait(waitFor(1, 0, 1)), "PE 0 sent a batch that makes no sense")
	d[0].Abort(errClosed)
}
