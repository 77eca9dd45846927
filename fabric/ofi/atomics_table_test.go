// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/segment"
)

var update = flag.Bool("update", false, "write docs/atomics.md")

// What runs an operation on a type.
const (
	byCPU      = "cpu"
	byProvider = "native"
	bySoftware = "software"
	byNobody   = "refused"
)

// A fabricColumn is what the table says of one fabric.
type fabricColumn struct {
	name  string
	cells [fabric.NumOps][fabric.NumDatatypes]string
}

// Each pair has 16 bytes of PE 1's segment to itself.
const (
	cellSize  = 16
	cellSpace = cellSize * fabric.NumOps * fabric.NumDatatypes
)

// TestAtomics_Table tries every operation on every type between two processes, and holds
// docs/atomics.md to what it finds.
func TestAtomics_Table(t *testing.T) {
	columns := []fabricColumn{
		{name: "shm", cells: shmCells(t)},
		{name: "tcp;ofi_rxm", cells: ofiCells(t, "tcp;ofi_rxm")},
		{name: "sockets", cells: ofiCells(t, "sockets")},
	}
	if t.Failed() {
		return
	}
	const document = "../../docs/atomics.md"
	got := renderAtomics(columns)
	if *update {
		require.NoError(t, os.WriteFile(document, got, 0o644))
		return
	}
	want, err := os.ReadFile(document)
	require.NoError(t, err)
	if !bytes.Equal(got, want) {
		t.Error("docs/atomics.md is out of date: go test -tags ofi ./fabric/ofi -run Atomics_Table -update")
	}
}

func shmCells(t *testing.T) [fabric.NumOps][fabric.NumDatatypes]string {
	t.Helper()
	file, err := segment.CreateFile(segment.Layout{PEs: 2, NPEs: 2, Size: segment.SizeForHeap(1 << 20), Cores: 2})
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), peerRole+"=shm")
	cmd.ExtraFiles = []*os.File{file}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	d, err := shm.New(file).Open(fabric.Job{NPEs: 2})
	require.NoError(t, err)
	require.NoError(t, file.Close())
	ep, err := d.Endpoint()
	require.NoError(t, err)
	c := cellTest{t: t, name: "shm", ep: ep, base: segment.SystemSize, native: byCPU, has: d.Caps().Native}
	c.run()
	require.NoError(t, ep.PutWord(1, segment.SystemSize+cellSpace, 8, 1))
	require.NoError(t, ep.Quiet())
	dump := make([]byte, 2*cellSpace)
	_, err = io.ReadFull(out, dump)
	require.NoError(t, err)
	c.compare(string(dump))
	require.NoError(t, ep.Close())
	require.NoError(t, cmd.Wait())
	return c.cells
}

// playShm is PE 1 on memory that both processes share: it takes no part, and then
// says what it sees.
func playShm() error {
	file := os.NewFile(3, "segment")
	d, err := shm.New(file).Open(fabric.Job{PE: 1, NPEs: 2})
	if err != nil {
		return err
	}
	if err := d.Wait(waitFor(1, segment.SystemSize+cellSpace, 1)); err != nil {
		return err
	}
	fmt.Printf("%x", d.Map(1)[segment.SystemSize:][:cellSpace])
	return d.Close()
}

func ofiCells(t *testing.T, provider string) [fabric.NumOps][fabric.NumDatatypes]string {
	t.Helper()
	p := startPeer(t, Options{Provider: provider}, "dump")
	e := endpoint(t, p.domain)
	c := cellTest{t: t, name: provider, ep: e, native: byProvider, has: p.domain.Caps().Native, stats: p.domain.Stats}
	c.run()
	p.release(t)
	c.compare(p.line(t))
	require.NoError(t, e.Close())
	return c.cells
}

// A cellTest goes through the table on one fabric.
type cellTest struct {
	t      *testing.T
	name   string
	ep     fabric.Endpoint
	base   fabric.Addr // of the cells
	native string      // who runs what has says
	has    fabric.AtomicTable
	stats  func() Stats // nil: nothing is counted
	words  []cellWord   // that PE 1 must have in the end
	cells  [fabric.NumOps][fabric.NumDatatypes]string
}

type cellWord struct {
	op   fabric.Op
	dt   fabric.Datatype
	off  fabric.Addr // among the cells
	want uint64
}

func (c *cellTest) run() {
	c.t.Helper()
	r := rand.New(rand.NewPCG(11, 12))
	for op := range fabric.Op(fabric.NumOps) {
		for dt := range fabric.Datatype(fabric.NumDatatypes) {
			off := cellSize * (fabric.Addr(op)*fabric.NumDatatypes + fabric.Addr(dt))
			if !fabric.Applies(op, dt) {
				c.cells[op][dt] = c.refused(op, dt, off)
				continue
			}
			c.cells[op][dt] = bySoftware
			if c.has.Has(op, dt) {
				c.cells[op][dt] = c.native
			}
			// Small words lie anywhere in eight bytes.
			off += fabric.Addr(r.IntN(8/int(dt.Size()))) * fabric.Addr(dt.Size())
			var want uint64
			for round := range 12 {
				want = c.once(r, op, dt, off, round)
			}
			if op == fabric.OpCswapNE && !dt.Integer() {
				c.comparesValues(dt, off, want)
			}
			c.words = append(c.words, cellWord{op, dt, off, want})
		}
	}
}

// refused: by an error that names the pair, before anything is posted.
func (c *cellTest) refused(op fabric.Op, dt fabric.Datatype, off fabric.Addr) string {
	c.t.Helper()
	before := c.counted()
	_, err := c.ep.FetchAtomic(1, op, dt, c.base+off, 1, 1)
	require.ErrorContains(c.t, err, fmt.Sprintf("%v on %v", op, dt), c.name)
	if !op.Compares() {
		err = c.ep.Atomic(1, op, dt, c.base+off, 1)
		require.ErrorContains(c.t, err, fmt.Sprintf("%v on %v", op, dt), c.name)
	}
	require.Equal(c.t, before, c.counted(), "%s: %v on %v was posted", c.name, op, dt)
	return byNobody
}

func (c *cellTest) counted() Stats {
	if c.stats == nil {
		return Stats{}
	}
	return c.stats()
}

// once does one operation on random values, in one of its forms, and returns what
// the word must be.
func (c *cellTest) once(r *rand.Rand, op fabric.Op, dt fabric.Datatype, off fabric.Addr, round int) uint64 {
	c.t.Helper()
	old, v, cmp := bitsOf(r, dt), bitsOf(r, dt), bitsOf(r, dt)
	if round%3 == 0 {
		cmp = old
	}
	at := c.base + off
	require.NoError(c.t, c.ep.PutWord(1, at, dt.Size(), old))
	require.NoError(c.t, c.ep.Quiet())
	before := c.counted()
	plain := round%2 == 1 && !op.Compares() && op != fabric.OpRead
	if plain {
		require.NoError(c.t, c.ep.Atomic(1, op, dt, at, v))
		require.NoError(c.t, c.ep.Quiet())
	} else {
		got, err := c.ep.FetchAtomic(1, op, dt, at, v, cmp)
		require.NoError(c.t, err)
		require.Equal(c.t, old, got, "%s: %v on %v fetched", c.name, op, dt)
	}
	if c.stats != nil {
		c.checkCounts(op, dt, plain, isAnyNaN(dt, old) && !isAnyNaN(dt, v), minus(c.stats(), before))
	}
	want := fabric.Apply(op, dt, old, v, cmp)
	var left [8]byte
	require.NoError(c.t, c.ep.Get(1, left[:dt.Size()], at))
	c.same(op, dt, left[:dt.Size()], want)
	return want
}

// comparesValues: 0 equals -0, and NaN differs from itself. It leaves the word as it was.
func (c *cellTest) comparesValues(dt fabric.Datatype, off fabric.Addr, leave uint64) {
	c.t.Helper()
	nan, minusZero := uint64(0x7ff8<<48), uint64(1<<63)
	if dt != fabric.Float64 {
		nan, minusZero = 0x7fc0<<16, 1<<31
	}
	at := c.base + off
	for _, x := range []struct {
		old, cmp uint64
		swaps    bool
	}{{0, minusZero, false}, {minusZero, 0, false}, {nan, nan, true}} {
		require.NoError(c.t, c.ep.PutWord(1, at, dt.Size(), x.old))
		require.NoError(c.t, c.ep.Quiet())
		_, err := c.ep.FetchAtomic(1, fabric.OpCswapNE, dt, at, 5, x.cmp)
		require.NoError(c.t, err)
		now, err := c.ep.FetchAtomic(1, fabric.OpRead, dt, at, 0, 0)
		require.NoError(c.t, err)
		require.Equal(c.t, x.swaps, now == 5, "%s: cswap_ne on %v: %#x where %#x is compared with", c.name, dt, x.old, x.cmp)
	}
	require.NoError(c.t, c.ep.PutWord(1, at, dt.Size(), leave))
	require.NoError(c.t, c.ep.Quiet())
}

// checkCounts: a native operation is one call of its own kind, and one in software is
// compare-and-swaps and nothing else.
func (c *cellTest) checkCounts(op fabric.Op, dt fabric.Datatype, plain, replacesNaN bool, got Stats) {
	c.t.Helper()
	want := Stats{}
	switch {
	case c.cells[op][dt] == bySoftware:
		require.NotZero(c.t, got.CompareAtomics, "%s: %v on %v", c.name, op, dt)
		want.CompareAtomics = got.CompareAtomics
	case op.Compares():
		want.CompareAtomics = 1
	case mayMeetNaN(op, dt):
		want.FetchAtomics = 1 // to see whether the word was a NaN
		if replacesNaN {
			want.CompareAtomics = 1
		}
	case plain:
		want.Atomics = 1
	default:
		want.FetchAtomics = 1
	}
	require.Equal(c.t, want, got, "%s: calls of %v on %v, plain %v", c.name, op, dt, plain)
}

func (c *cellTest) same(op fabric.Op, dt fabric.Datatype, left []byte, want uint64) {
	c.t.Helper()
	exp := make([]byte, len(left))
	fabric.PutBits(exp, want)
	var bits [8]byte
	copy(bits[:], left)
	if !bytes.Equal(left, exp) && !(isAnyNaN(dt, littleEndian(bits)) && isAnyNaN(dt, want)) {
		c.t.Errorf("%s: %v on %v left % x, want % x", c.name, op, dt, left, exp)
	}
}

func littleEndian(b [8]byte) (bits uint64) {
	for i, x := range b {
		bits |= uint64(x) << (8 * i)
	}
	return bits
}

// compare looks at what PE 1's own processor sees.
func (c *cellTest) compare(dump string) {
	c.t.Helper()
	cells, err := hex.DecodeString(dump)
	require.NoError(c.t, err)
	require.Len(c.t, cells, cellSpace)
	for _, w := range c.words {
		c.same(w.op, w.dt, cells[w.off:][:w.dt.Size()], w.want)
	}
}

// verbs are the public functions by which a program reaches an operation.
var verbs = [fabric.NumOps]string{
	fabric.OpMin:     "AtomicMin, AtomicFetchMin",
	fabric.OpMax:     "AtomicMax, AtomicFetchMax",
	fabric.OpSum:     "AtomicAdd, AtomicFetchAdd, AtomicInc, AtomicFetchInc, SignalAdd",
	fabric.OpProd:    "AtomicProd, AtomicFetchProd",
	fabric.OpLor:     "AtomicLogicalOr, AtomicFetchLogicalOr",
	fabric.OpLand:    "AtomicLogicalAnd, AtomicFetchLogicalAnd",
	fabric.OpBor:     "AtomicOr, AtomicFetchOr",
	fabric.OpBand:    "AtomicAnd, AtomicFetchAnd",
	fabric.OpLxor:    "AtomicLogicalXor, AtomicFetchLogicalXor",
	fabric.OpBxor:    "AtomicXor, AtomicFetchXor",
	fabric.OpWrite:   "AtomicSet, AtomicSwap, SignalSet, PutValue",
	fabric.OpRead:    "AtomicFetch",
	fabric.OpCswap:   "AtomicCompareSwap; AtomicCompareSwapIf with CmpEQ",
	fabric.OpCswapNE: "AtomicCompareSwapIf with CmpNE",
	fabric.OpCswapLE: "AtomicCompareSwapIf with CmpGE",
	fabric.OpCswapLT: "AtomicCompareSwapIf with CmpGT",
	fabric.OpCswapGE: "AtomicCompareSwapIf with CmpLE",
	fabric.OpCswapGT: "AtomicCompareSwapIf with CmpLT",
	fabric.OpMswap:   "AtomicMaskedSwap",
}

// TestAtomics_VerbsExist: the table names no function that package shmem does not have.
func TestAtomics_VerbsExist(t *testing.T) {
	var source []byte
	for _, file := range []string{"atomics.go", "atomics_beyond.go", "atomics_swap.go", "signal.go", "rma.go", "types.go"} {
		b, err := os.ReadFile("../../shmem/" + file)
		require.NoError(t, err)
		source = append(source, b...)
	}
	for op, names := range verbs {
		require.NotEmpty(t, names, fabric.Op(op))
		for _, name := range regexp.MustCompile(`[A-Z]\w+`).FindAllString(names, -1) {
			require.Regexp(t, `(?m)^(func |\t)`+name+`\b`, string(source))
		}
	}
}

func renderAtomics(columns []fabricColumn) []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, `# Atomics: what runs where

Generated by `+"`go test -tags ofi ./fabric/ofi -run Atomics_Table -update`"+`, which tries every operation on every
type between two processes: fetched values and results are those of `+"`fabric.Apply`"+`, and the calls are counted.

| word | by |
|---|---|
| cpu | instructions of the PE that asks, on the other's memory: one for sum, bor, band, write, read and cswap of 4 and 8 bytes, else a loop of compare-and-swaps, for 1 and 2 bytes on the four bytes around |
| native | one call: fi_atomic, fi_fetch_atomic or fi_compare_atomic; the provider carries it out at the target |
| software | a loop of fi_compare_atomic by the PE that asks, on the word or a wider one around it: as atomic, slower |
| refused | nobody: such a program does not compile, or the error names the pair |

`)
	fmt.Fprint(&b, `A minimum or maximum of floating-point numbers is always the fetching call, and where the word was a NaN and the
operand is a number, a compare-and-swap after it: providers leave the NaN. The product of complex numbers is software
because C and Go disagree about infinities, and so is cswap_ne of other than integers: it compares values, of which 0
equals -0 and NaN differs from itself, and a provider might compare bits. complex128 has no atomics: Go has none of 16 bytes.

| operation | libfabric | package shmem |
|---|---|---|
`)
	for op := range fabric.Op(fabric.NumOps) {
		fmt.Fprintf(&b, "| %v | %s | %s |\n", op, libfabricName(op), verbs[op])
	}
	for _, c := range columns {
		fmt.Fprintf(&b, "\n## %s\n\n| |", c.name)
		for dt := range fabric.Datatype(fabric.NumDatatypes) {
			fmt.Fprintf(&b, " %v |", dt)
		}
		fmt.Fprintf(&b, "\n|%s\n", strings.Repeat("---|", 1+fabric.NumDatatypes))
		for op, row := range c.cells {
			fmt.Fprintf(&b, "| %v | %s |\n", fabric.Op(op), strings.Join(row[:], " | "))
		}
	}
	return b.Bytes()
}

// libfabricName returns the operation's name in fi_atomic(3).
func libfabricName(op fabric.Op) string {
	name := strings.ToUpper(op.String())
	if op == fabric.OpWrite || op == fabric.OpRead {
		name = "ATOMIC_" + name
	}
	return "FI_" + name
}
