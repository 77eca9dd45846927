// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// TestRange_IsRefusedBeforeItIsPosted: what leaves the segment never reaches the
// provider.
func TestRange_IsRefusedBeforeItIsPosted(t *testing.T) {
	d := connected(t, provider(Options{}, 2), 2, small)
	e := endpoint(t, d[0])
	b := make([]byte, 64)
	for _, off := range []fabric.Addr{small - 63, small, small + 1, ^fabric.Addr(0), ^fabric.Addr(0) - 63} {
		word := max(off, small-7)
		for name, err := range map[string]error{
			"put":     e.Put(1, off, b),
			"putNBI":  e.PutNBI(1, off, b),
			"get":     e.Get(1, b, off),
			"getNBI":  e.GetNBI(1, b, off),
			"strided": e.PutStrided(1, off, b, fabric.Strides{Block: 4, Blocks: 9, Dst: 8, Src: 4}),
			"gather":  e.GetStrided(1, b, off, fabric.Strides{Block: 4, Blocks: 9, Dst: 4, Src: 8}),
			"putv":    e.PutV(1, []fabric.Part{{Data: b}, {Off: off, Data: b}}),
			"getv":    e.GetV(1, []fabric.Part{{Data: b}, {Off: off, Data: b}}),
			"signal":  e.PutSignal(1, 0, b, word, fabric.OpWrite, 1),
			"word":    e.PutWord(1, word, 8, 1),
			"note":    e.Notify(1, word, []uint64{1, 1}),
			"words":   e.PutWords(1, word-16, []uint64{1, 2, 3}),
			"atomic":  e.Atomic(1, fabric.OpSum, fabric.Uint64, word, 1),
		} {
			require.ErrorContains(t, err, "PE 1", "%s at %d", name, off)
			require.ErrorContains(t, err, "outside its segment of 65536 bytes", "%s at %d", name, off)
		}
	}
	for _, pe := range []int{-1, 2, math.MaxInt} {
		require.ErrorContains(t, e.Put(pe, 0, b), fmt.Sprintf("no PE %d among the 2", pe))
	}
	for _, s := range []fabric.Strides{
		{Block: 8, Blocks: 9, Dst: 8, Src: 8}, {Block: 8, Blocks: math.MaxInt, Dst: 8, Src: 8}, {Block: -1, Blocks: 2, Dst: 8, Src: 8}, {Block: 8, Blocks: 2, Dst: 8, Src: -8},
	} {
		require.Error(t, e.PutStrided(1, 0, b, s), "%+v", s)
		require.Error(t, e.GetStrided(1, b, 0, s), "%+v", s)
	}
	require.Equal(t, Stats{}, d[0].Stats())
}

// TestStats_CountTheCalls: each kind of operation is one call of the function that
// it is said to be.
func TestStats_CountTheCalls(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			d := connected(t, provider(o, 2), 2, small)
			e := endpoint(t, d[0])
			b := make([]byte, 20<<10)
			for _, c := range []struct {
				what string
				do   func() error
				want Stats
			}{
				{"put of 8 bytes", func() error { return e.Put(1, 0, b[:8]) }, Stats{Writes: 1, InjectedWrites: 1}},
				{"put of 1000 bytes", func() error { return e.Put(1, 0, b[:1000]) }, Stats{Writes: 1, BouncedWrites: 1}},
				{"put of 20 KiB", func() error { return e.Put(1, 0, b) }, Stats{Writes: 1}},
				{"nbi put of 20 KiB", func() error { return e.PutNBI(1, 0, b) }, Stats{Writes: 1}},
				{"get of 20 KiB", func() error { return e.Get(1, b, 0) }, Stats{Reads: 1}},
				{"put of a word", func() error { return e.PutWord(1, 8, 4, 3) }, Stats{Atomics: 1}},
				{"note", func() error { return e.Notify(1, 16, []uint64{3, 3}) }, Stats{Notes: 1}},
				{"put of 3 words", func() error { return e.PutWords(1, 8, make([]uint64, 3)) }, Stats{Atomics: 1}},
				{"put of 140 words", func() error { return e.PutWords(1, 8, make([]uint64, 140)) }, Stats{Atomics: 3}},
				{"put with a signal added", func() error { return e.PutSignal(1, 64, b[:8], 0, fabric.OpSum, 1) }, Stats{Writes: 1, InjectedWrites: 1, Atomics: 1}},
				{"put with a signal set", func() error { return e.PutSignal(1, 64, b[:8], 0, fabric.OpWrite, 1) }, Stats{Atomics: 1}},
				{"put of 12 bytes with a signal set", func() error { return e.PutSignal(1, 64, b[:12], 0, fabric.OpWrite, 1) }, Stats{Writes: 1, InjectedWrites: 1, Atomics: 1}},
				{"put to 65 with a signal set", func() error { return e.PutSignal(1, 65, b[:8], 0, fabric.OpWrite, 1) }, Stats{Writes: 1, InjectedWrites: 1, Atomics: 1}},
				{"put of 1000 bytes with a signal set", func() error { return e.PutSignal(1, 64, b[:1000], 0, fabric.OpWrite, 1) }, Stats{Writes: 1, Atomics: 1}},
				{"put of 8 blocks", func() error {
					return e.PutStrided(1, 0, b, fabric.Strides{Block: 8, Blocks: 8, Dst: 16, Src: 8})
				}, Stats{Writes: 2, InjectedWrites: 2}},
				{"put of 8 blocks of 1000 bytes", func() error {
					return e.PutStrided(1, 0, b, fabric.Strides{Block: 1000, Blocks: 8, Dst: 2000, Src: 1000})
				}, Stats{Writes: 2, BouncedWrites: 2}},
				{"put of 900 blocks side by side there", func() error {
					return e.PutStrided(1, 0, b, fabric.Strides{Block: 8, Blocks: 900, Dst: 8, Src: 16})
				}, Stats{Writes: 1, BouncedWrites: 1}},
				{"get of 8 blocks", func() error {
					return e.GetStrided(1, b, 0, fabric.Strides{Block: 8, Blocks: 8, Dst: 16, Src: 2400})
				}, Stats{Reads: 2}},
				{"get of 900 blocks close together", func() error {
					return e.GetStrided(1, b, 0, fabric.Strides{Block: 8, Blocks: 900, Dst: 16, Src: 24})
				}, Stats{Reads: 2}},
				{"put of 5 small parts", func() error { return e.PutV(1, apart(b, 5, 8)) }, Stats{Writes: 2, InjectedWrites: 2}},
				{"put of 4 parts of 1000 bytes", func() error { return e.PutV(1, apart(b, 4, 1000)) }, Stats{Writes: 1, BouncedWrites: 1}},
				{"put of 4 parts of 5000 bytes", func() error { return e.PutV(1, apart(b, 4, 5000)) }, Stats{Writes: 1}},
				{"get of 9 parts", func() error { return e.GetV(1, apart(b, 9, 100)) }, Stats{Reads: 3}},
				{"put of 65 parts", func() error { return e.PutV(1, apart(b, 65, 10)) }, Stats{Writes: 17, InjectedWrites: 17}},
			} {
				before := d[0].Stats()
				require.NoError(t, c.do(), c.what)
				require.NoError(t, e.Quiet(), c.what)
				require.Equal(t, c.want, minus(d[0].Stats(), before), c.what)
			}
		})
	}
}

// apart returns n parts of b, each of size bytes, that touch neither here nor there.
func apart(b []byte, n, size int) []fabric.Part {
	parts := make([]fabric.Part, n)
	for i := range parts {
		at := i * (size + 8) % (len(b) - size)
		parts[i] = fabric.Part{Off: fabric.Addr(i * (size + 8)), Data: b[at:][:size]}
	}
	return parts
}

func minus(a, b Stats) Stats {
	return Stats{
		a.Writes - b.Writes, a.Reads - b.Reads, a.Atomics - b.Atomics, a.FetchAtomics - b.FetchAtomics, a.CompareAtomics - b.CompareAtomics, a.Notes - b.Notes,
		a.InjectedWrites - b.InjectedWrites, a.BouncedWrites - b.BouncedWrites,
		a.Batches - b.Batches, a.Records - b.Records, a.Acks - b.Acks,
	}
}

// TestAtomics_RunWhereCapsSays: what is native is one call of the right kind, and what is not
// is built from compare-and-swaps alone.
func TestAtomics_RunWhereCapsSays(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			for _, limit := range []bool{false, true} {
				p := provider(o, 2)
				p.lab = lab{limit: limit, native: softwareOnly()}
				d := connected(t, p, 2, small)
				e := endpoint(t, d[0])
				native := d[0].Caps().Native
				for op := range fabric.Op(fabric.NumOps) {
					for dt := range fabric.Datatype(fabric.NumDatatypes) {
						if !fabric.Applies(op, dt) {
							continue
						}
						if !limit && !mayDiffer(op, dt) {
							require.True(t, native.Has(op, dt), "%v on %v is not native", op, dt)
						}
						before := d[0].Stats()
						_, err := e.FetchAtomic(1, op, dt, 64, 1, 1)
						require.NoError(t, err)
						got := minus(d[0].Stats(), before)
						switch {
						case !native.Has(op, dt):
							require.Zero(t, got.FetchAtomics+got.Atomics, "%v on %v", op, dt)
							require.NotZero(t, got.CompareAtomics, "%v on %v", op, dt)
						case op.Compares():
							require.Equal(t, Stats{CompareAtomics: 1}, got, "%v on %v", op, dt)
						default:
							require.Equal(t, uint64(1), got.FetchAtomics, "%v on %v", op, dt)
						}
					}
				}
			}
		})
	}
}

// TestAtomics_AgreeWithApply goes through all pairs in both ways, NaNs and all.
func TestAtomics_AgreeWithApply(t *testing.T) {
	const rounds = 20
	for _, limit := range []bool{false, true} {
		t.Run(fmt.Sprintf("software only %v", limit), func(t *testing.T) {
			p := provider(Options{}, 2)
			p.lab = lab{limit: limit, native: softwareOnly()}
			d := connected(t, p, 2, small)
			e := endpoint(t, d[0])
			r := rand.New(rand.NewPCG(7, 8))
			for op := range fabric.Op(fabric.NumOps) {
				for dt := range fabric.Datatype(fabric.NumDatatypes) {
					if !fabric.Applies(op, dt) {
						continue
					}
					for i := range rounds {
						old, v, cmp := bitsOf(r, dt), bitsOf(r, dt), bitsOf(r, dt)
						if i%3 == 0 {
							cmp = old
						}
						off := 64 + fabric.Addr(dt.Size())*fabric.Addr(r.IntN(8))
						require.NoError(t, e.PutWord(1, off, dt.Size(), old))
						require.NoError(t, e.Fence())
						got, err := e.FetchAtomic(1, op, dt, off, v, cmp)
						require.NoError(t, err)
						require.Equal(t, old, got, "%v on %v fetched", op, dt)
						want := fabric.Apply(op, dt, old, v, cmp)
						if left := d[1].word(off).load(dt.Size()); left != want && !(isAnyNaN(dt, left) && isAnyNaN(dt, want)) {
							t.Errorf("%v on %v of word %#x, operand %#x, comparand %#x: left %#x, want %#x", op, dt, old, v, cmp, left, want)
						}
					}
				}
			}
		})
	}
}

// bitsOf returns the bits of a small number, for floats now and then of a NaN, an infinity or
// a negative zero.
func bitsOf(r *rand.Rand, dt fabric.Datatype) uint64 {
	number := func() float64 {
		return [...]float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1), 1, -2, 3, 100, -1000}[r.IntN(10)]
	}
	single := func() uint64 { return uint64(math.Float32bits(float32(number()))) }
	switch dt {
	case fabric.Float32:
		return single()
	case fabric.Float64:
		return math.Float64bits(number())
	case fabric.Complex64:
		return single()<<32 | single()
	}
	return uint64(r.IntN(5)-2) >> (64 - 8*dt.Size())
}

func isAnyNaN(dt fabric.Datatype, bits uint64) bool {
	if dt == fabric.Complex64 {
		return isNaN(fabric.Float32, bits) || isNaN(fabric.Float32, bits>>32)
	}
	return !dt.Integer() && isNaN(dt, bits)
}

// TestSoftware_LosesNoUpdate: additions built from wide swaps, next to each other.
func TestSoftware_LosesNoUpdate(t *testing.T) {
	const adds, words = 200, 4
	p := provider(Options{}, 3)
	p.lab = lab{limit: true, native: softwareOnly()}
	d := connected(t, p, 3, small)
	var all sync.WaitGroup
	for _, from := range d {
		for k := range fabric.Addr(words) {
			all.Go(func() {
				e := endpoint(t, from)
				for range adds {
					if err := e.Atomic(0, fabric.OpSum, fabric.Uint16, 64+2*k, 3); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	for k := range fabric.Addr(words) {
		require.Equal(t, uint64(3*adds*len(d)), d[0].word(64+2*k).load(2))
	}
}

// TestNBI_SurvivesStackGrowthAndGC: buffers that were on a stack, and that nothing
// else refers to, are there when the data comes.
func TestNBI_SurvivesStackGrowthAndGC(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			d := connected(t, provider(o, 2), 2, 1<<20)
			fill(d[1].segment, 1)
			e := endpoint(t, d[0])
			want := bytes.Clone(d[1].segment[:64])
			for i := range 20 {
				var array [64]byte
				var word [8]byte
				require.NoError(t, e.GetNBI(1, array[:], 0))
				require.NoError(t, e.FetchAtomicNBI(1, fabric.OpSum, fabric.Uint64, 1<<19, 1, 0, word[:]))
				require.NoError(t, e.PutNBI(1, 1<<10, pattern(200<<10, i))) // nobody else has it
				deep(200)
				runtime.GC()
				require.NoError(t, e.Quiet())
				require.False(t, e.pins.any.Load(), "pins are left after quiet")
				require.Equal(t, want, array[:])
				fill(d[0].segment[:200<<10], i)
				require.True(t, bytes.Equal(d[0].segment[:200<<10], d[1].segment[1<<10:][:200<<10]), "big put %d", i)
			}
		})
	}
}

func pattern(size, seed int) []byte {
	b := make([]byte, size)
	fill(b, seed)
	return b
}

// deep makes the stack grow, and so move.
func deep(n int) byte {
	var room [1 << 10]byte
	room[n] = byte(n)
	if n == 0 {
		return room[0]
	}
	return deep(n-1) + room[n]
}

// TestNBI_UnpinsWithoutQuiet: who never calls Quiet does not pin ever more.
func TestNBI_UnpinsWithoutQuiet(t *testing.T) {
	d := connected(t, provider(Options{}, 2), 2, small)
	e := endpoint(t, d[0])
	b := make([]byte, 8)
	for range 20 * pinLimit {
		require.NoError(t, e.GetNBI(1, b, 0))
	}
	if n := len(e.pins.retired); n > 4 {
		t.Errorf("%d sets of pins are kept after %d gets", n, 20*pinLimit)
	}
}

// TestOperations_DoNotAllocate: once things are warm.
func TestOperations_DoNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	d := connected(t, provider(Options{}, 2), 2, small)
	own := endpoint(t, d[0])
	var e fabric.Endpoint = own
	x := fabric.Extend(e)
	b, big := make([]byte, 8), make([]byte, 1000)
	s := fabric.Strides{Block: 8, Blocks: 20, Dst: 16, Src: 24}
	parts := []fabric.Part{{Off: 8, Data: big[:40]}, {Off: 100, Data: big[100:200]}, {}, {Off: 900, Data: big[900:]}}
	words, pes := make([]uint64, 140), []int{1}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range map[string]func(){
		"put":        func() { must(e.Put(1, 0, b)); must(e.Quiet()) },
		"put 1000":   func() { must(e.Put(1, 0, big)); must(e.Quiet()) },
		"get":        func() { must(e.Get(1, b, 0)) },
		"put word":   func() { must(e.PutWord(1, 0, 8, 1)); must(e.Quiet()) },
		"note":       func() { must(own.Notify(1, 16, words[:2])) },
		"put words":  func() { must(own.PutWords(1, 0, words)); must(e.Quiet()) },
		"atomic":     func() { must(e.Atomic(1, fabric.OpSum, fabric.Int32, 0, 1)); must(e.Quiet()) },
		"fetch":      func() { _, err := e.FetchAtomic(1, fabric.OpSum, fabric.Int32, 0, 1, 0); must(err) },
		"put nbi":    func() { must(x.PutNBI(1, 0, b)); must(x.Quiet()) },
		"quiet PEs":  func() { must(x.GetNBI(1, b, 0)); must(x.QuietPEs(pes)) },
		"get nbi":    func() { must(x.GetNBI(1, b, 0)); must(x.Quiet()) },
		"fetch nbi":  func() { must(x.FetchAtomicNBI(1, fabric.OpSum, fabric.Uint64, 0, 1, 0, b)); must(x.Quiet()) },
		"put signal": func() { must(x.PutSignal(1, 64, b, 0, fabric.OpWrite, 1)); must(x.Quiet()) },
		"put parts":  func() { must(x.PutV(1, parts)); must(x.Quiet()) },
		"get parts":  func() { must(x.GetV(1, parts)) },
		"put blocks": func() { must(x.PutStrided(1, 0, big, s)); must(x.Quiet()) },
		"get blocks": func() { must(x.GetStrided(1, big, 0, s)) },
	} {
		f()
		// Pools start afresh after each collection: few runs, and the average rounds down.
		if n := testing.AllocsPerRun(200, f); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
