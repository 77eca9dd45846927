// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/shmem"
)

// A verb is a call that must not allocate.
type verb struct {
	name string
	call func()
}

// No verb allocates: with a lone PE whose memory is reached directly here, and
// through an endpoint in alloc_linux_test.go.
func TestVerbs_DoNotAllocate(t *testing.T) {
	pe := lonePE(t)
	if shmem.Ptr(alloc[byte](pe, 1), 0) == nil {
		t.Fatal("a lone PE does not reach its own memory")
	}
	measure(t, pe)
}

// TestVectored_ElementsAreNotOnAStack: endpoints hold addresses of one part while they
// gather the next, and a stack may move meanwhile. So the array of a caller is one
// allocation.
func TestVectored_ElementsAreNotOnAStack(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	x := alloc[int64](lonePE(t), 8)
	for name, transfer := range map[string]func(){
		"PutV": func() {
			var buf [8]int64
			shmem.PutV(x, []shmem.Part[int64]{{At: 0, Elems: buf[:]}}, 0)
		},
		"GetV": func() {
			var buf [8]int64
			shmem.GetV([]shmem.Part[int64]{{At: 0, Elems: buf[:]}}, x, 0)
		},
	} {
		if n := testing.AllocsPerRun(100, transfer); n != 1 {
			t.Errorf("%s from and to a local array: %v allocations, want 1, of the array", name, n)
		}
	}
}

// lonePE returns the only PE of this process, for the time of the test.
func lonePE(t testing.TB) *shmem.PE {
	t.Helper()
	pe, err := shmem.Init()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pe.Finalize(); err != nil {
			t.Error(err)
		}
	})
	return pe
}

type small struct {
	A uint16
	B [3]uint8
}

type large struct {
	A [5]int64
	B float32
}

// measure counts the allocations of every verb, with elements of many sizes.
func measure(t *testing.T, pe *shmem.PE) {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for _, group := range []struct {
		element string
		verbs   []verb
	}{
		{"int8", integerVerbs[int8](pe)},
		{"uint16", integerVerbs[uint16](pe)},
		{"int32", integerVerbs[int32](pe)},
		{"uint64", integerVerbs[uint64](pe)},
		{"int", integerVerbs[int](pe)},
		{"float32", orderedVerbs[float32](pe)},
		{"float64", orderedVerbs[float64](pe)},
		{"complex64", scalarVerbs[complex64](pe)},
		{"complex128", numericVerbs[complex128](pe)},
		{"bool", verbs[bool](pe)},
		{"[3]byte", verbs[[3]byte](pe)},
		{"[16]byte", verbs[[16]byte](pe)},
		{"small struct", verbs[small](pe)},
		{"large struct", verbs[large](pe)},
		{"PE", peVerbs(pe)},
	} {
		for _, v := range group.verbs {
			if n := testing.AllocsPerRun(20, v.call); n != 0 {
				t.Errorf("%s of %s: %v allocations", v.name, group.element, n)
			}
		}
	}
}

// verbs returns the verbs that every element type has. Blocking ones read and
// write arrays on the caller's stack.
func verbs[T any](pe *shmem.PE) []verb {
	x, y, sig := alloc[T](pe, 8), alloc[T](pe, 8), alloc[uint64](pe, 1)
	counts := alloc[int64](pe, 1)
	heap := make([]T, 8) // of the non-blocking and vectored ones
	var v T
	return []verb{
		{"Put", func() { var s [8]T; shmem.Put(x, s[:], 0) }},
		{"Put of an element", func() { var s [1]T; shmem.Put(x.At(3), s[:], 0) }},
		{"Get", func() { var s [8]T; shmem.Get(s[:], x, 0) }},
		{"PutValue", func() { shmem.PutValue(x.At(1), v, 0) }},
		{"GetValue", func() { _ = shmem.GetValue(x.At(1), 0) }},
		{"PutStrided", func() { var s [8]T; shmem.PutStrided(x, s[:], 2, 1, 4, 0) }},
		{"GetStrided", func() { var s [8]T; shmem.GetStrided(s[:], x, 1, 2, 4, 0) }},
		{"PutBlocks", func() { var s [8]T; shmem.PutBlocks(x, s[:], 4, 3, 2, 2, 0) }},
		{"GetBlocks", func() { var s [8]T; shmem.GetBlocks(s[:], x, 3, 4, 2, 2, 0) }},
		{"PutV", func() { shmem.PutV(x, []shmem.Part[T]{{5, heap[:3]}, {0, heap[4:6]}}, 0) }},
		{"GetV", func() { shmem.GetV([]shmem.Part[T]{{5, heap[:3]}, {0, heap[4:6]}}, x, 0) }},
		{"PutAsync", func() { shmem.PutAsync(x, heap, 0).Wait() }},
		{"GetAsync", func() { shmem.GetAsync(heap, x, 0).Wait() }},
		{"Ref", func() { _ = x.At(1).Ref(0).Sym(pe) }},
		{"PutNBI", func() { shmem.PutNBI(x, heap, 0) }},
		{"GetNBI", func() { shmem.GetNBI(heap, x, 0) }},
		{"PutSignal", func() { var s [8]T; shmem.PutSignal(x, s[:], sig, 1, shmem.SigAdd, 0) }},
		{"PutSignal of nothing", func() { shmem.PutSignal(x, nil, sig, 1, shmem.SigSet, 0) }},
		{"PutSignalNBI", func() { shmem.PutSignalNBI(x, heap, sig, 1, shmem.SigSet, 0) }},
		{"Broadcast", func() { shmem.Broadcast(pe.World(), y, x, 0) }},
		{"FCollect", func() { shmem.FCollect(pe.World(), y, x) }},
		{"AllToAll", func() { shmem.AllToAll(pe.World(), y, x) }},
		{"AllToAllStrided", func() { shmem.AllToAllStrided(pe.World(), y, x, 2, 3, 2) }},
		{"AllToAllV", func() { shmem.AllToAllV(pe.World(), y, x, counts, nil) }},
		{"Collect", func() { shmem.Collect(pe.World(), y, x) }},
		{"Ptr", func() { _ = shmem.Ptr(x, 0) }},
		{"parts", func() { _ = x.On(x.Context()).Slice(1, 5).At(2).Local()[:x.Len()-7] }},
	}
}

func numericVerbs[T shmem.Numeric](pe *shmem.PE) []verb {
	x, y := alloc[T](pe, 8), alloc[T](pe, 8)
	return append(verbs[T](pe),
		verb{"SumReduce", func() { shmem.SumReduce(pe.World(), y, x) }},
		verb{"SumReduce in place", func() { shmem.SumReduce(pe.World(), x, x) }},
		verb{"ProdReduce", func() { shmem.ProdReduce(pe.World(), y, x) }},
		verb{"SumInclusiveScan", func() { shmem.SumInclusiveScan(pe.World(), y, x) }},
		verb{"SumExclusiveScan", func() { shmem.SumExclusiveScan(pe.World(), y, x) }},
		verb{"SumReduceScatter", func() { shmem.SumReduceScatter(pe.World(), y, x) }},
	)
}

func scalarVerbs[T interface {
	shmem.Scalar
	shmem.Numeric
}](pe *shmem.PE) []verb {
	x := alloc[T](pe, 2).At(1)
	old := new(T)
	return append(numericVerbs[T](pe),
		verb{"AtomicFetch", func() { _ = shmem.AtomicFetch(x, 0) }},
		verb{"AtomicSet", func() { shmem.AtomicSet(x, 1, 0) }},
		verb{"AtomicSwap", func() { _ = shmem.AtomicSwap(x, 2, 0) }},
		verb{"AtomicAdd", func() { shmem.AtomicAdd(x, 1, 0) }},
		verb{"AtomicFetchAdd", func() { _ = shmem.AtomicFetchAdd(x, 1, 0) }},
		verb{"AtomicFetchAddNBI", func() { shmem.AtomicFetchAddNBI(old, x, 1, 0) }},
		verb{"AtomicFetchAddAsync", func() { shmem.AtomicFetchAddAsync(old, x, 1, 0).Wait() }},
		verb{"AtomicProd", func() { shmem.AtomicProd(x, 3, 0) }},
		verb{"AtomicFetchProd", func() { _ = shmem.AtomicFetchProd(x, 3, 0) }},
		verb{"AtomicLogicalAnd", func() { shmem.AtomicLogicalAnd(x, 3, 0) }},
		verb{"AtomicFetchLogicalAnd", func() { _ = shmem.AtomicFetchLogicalAnd(x, 3, 0) }},
		verb{"AtomicLogicalOr", func() { shmem.AtomicLogicalOr(x, 3, 0) }},
		verb{"AtomicFetchLogicalOr", func() { _ = shmem.AtomicFetchLogicalOr(x, 3, 0) }},
		verb{"AtomicLogicalXor", func() { shmem.AtomicLogicalXor(x, 3, 0) }},
		verb{"AtomicFetchLogicalXor", func() { _ = shmem.AtomicFetchLogicalXor(x, 3, 0) }},
		verb{"AtomicCompareSwapIf", func() { _ = shmem.AtomicCompareSwapIf(x, shmem.CmpNE, 3, 4, 0) }},
		verb{"AtomicCompareSwapIf equal", func() { _ = shmem.AtomicCompareSwapIf(x, shmem.CmpEQ, 4, 3, 0) }},
		verb{"AtomicFetchNBI", func() { shmem.AtomicFetchNBI(old, x, 0) }},
		verb{"AtomicSwapNBI", func() { shmem.AtomicSwapNBI(old, x, 3, 0) }},
	)
}

func orderedVerbs[T shmem.Ordered](pe *shmem.PE) []verb {
	x, y := alloc[T](pe, 2).At(1), alloc[T](pe, 1)
	return append(scalarVerbs[T](pe),
		verb{"AtomicMin", func() { shmem.AtomicMin(x, 1, 0) }},
		verb{"AtomicFetchMin", func() { _ = shmem.AtomicFetchMin(x, 2, 0) }},
		verb{"AtomicMax", func() { shmem.AtomicMax(x, 3, 0) }},
		verb{"AtomicFetchMax", func() { _ = shmem.AtomicFetchMax(x, 4, 0) }},
		verb{"MaxReduce", func() { shmem.MaxReduce(pe.World(), x, x) }},
		verb{"MinReduce", func() { shmem.MinReduce(pe.World(), x, x) }},
		verb{"MaxReduceScatter", func() { shmem.MaxReduceScatter(pe.World(), y, x) }},
		verb{"MinReduceScatter", func() { shmem.MinReduceScatter(pe.World(), y, x) }},
	)
}

func integerVerbs[T shmem.Integer](pe *shmem.PE) []verb {
	x, y := alloc[T](pe, 2).At(1), alloc[T](pe, 1)
	old := new(T)
	return append(append(orderedVerbs[T](pe), waitVerbs[T](pe)...),
		verb{"AtomicCompareSwap", func() { _ = shmem.AtomicCompareSwap(x, 0, 1, 0) }},
		verb{"AtomicInc", func() { shmem.AtomicInc(x, 0) }},
		verb{"AtomicAnd", func() { shmem.AtomicAnd(x, 7, 0) }},
		verb{"AtomicOr", func() { shmem.AtomicOr(x, 8, 0) }},
		verb{"AtomicXor", func() { shmem.AtomicXor(x, 8, 0) }},
		verb{"AndReduce", func() { shmem.AndReduce(pe.World(), y, y) }},
		verb{"OrReduce", func() { shmem.OrReduce(pe.World(), y, y) }},
		verb{"XorReduce", func() { shmem.XorReduce(pe.World(), y, y) }},
		verb{"AtomicFetchInc", func() { _ = shmem.AtomicFetchInc(x, 0) }},
		verb{"AtomicFetchAnd", func() { _ = shmem.AtomicFetchAnd(x, 7, 0) }},
		verb{"AtomicFetchOr", func() { _ = shmem.AtomicFetchOr(x, 8, 0) }},
		verb{"AtomicFetchXor", func() { _ = shmem.AtomicFetchXor(x, 8, 0) }},
		verb{"AtomicMaskedSwap", func() { _ = shmem.AtomicMaskedSwap(x, 5, 8, 0) }},
		verb{"AtomicCompareSwapNBI", func() { shmem.AtomicCompareSwapNBI(old, x, 0, 1, 0) }},
		verb{"AtomicFetchIncNBI", func() { shmem.AtomicFetchIncNBI(old, x, 0) }},
		verb{"AtomicFetchAndNBI", func() { shmem.AtomicFetchAndNBI(old, x, 7, 0) }},
		verb{"AtomicFetchOrNBI", func() { shmem.AtomicFetchOrNBI(old, x, 8, 0) }},
		verb{"AtomicFetchXorNBI", func() { shmem.AtomicFetchXorNBI(old, x, 8, 0) }},
	)
}

func peVerbs(pe *shmem.PE) []verb {
	sig, lock := alloc[uint64](pe, 1), alloc[shmem.Lock](pe, 1)
	return []verb{
		{"Fence", func() { pe.Fence(); pe.Context().Fence() }},
		{"Quiet", func() { pe.Quiet(); pe.Context().Quiet() }},
		{"BarrierAll", pe.BarrierAll},
		{"SyncAll", pe.SyncAll},
		{"Sync", pe.World().Sync},
		{"SignalSet", func() { shmem.SignalSet(sig, 1, 0) }},
		{"SignalAdd", func() { shmem.SignalAdd(sig, 1, 0) }},
		{"SignalFetch", func() { _ = shmem.SignalFetch(sig) }},
		{"SignalWaitUntil", func() { _ = shmem.SignalWaitUntil(sig, shmem.CmpGE, 0) }},
		{"SetLock", func() { shmem.SetLock(lock); shmem.ClearLock(lock) }},
		{"TestLock", func() { _ = shmem.TestLock(lock); shmem.ClearLock(lock) }},
		{"ClearLock", func() { shmem.SetLock(lock); _ = shmem.TestLock(lock); shmem.ClearLock(lock) }},
	}
}

// Every exported function that takes an object is measured, unless it allocates by
// nature.
func TestVerbs_AreAllMeasured(t *testing.T) {
	measured := map[string]bool{"Free": true, "Realloc": true}
	pe := lonePE(t)
	for _, v := range append(integerVerbs[int](pe), peVerbs(pe)...) {
		name, _, _ := strings.Cut(v.name, " ")
		measured[name] = true
		if strings.HasPrefix(name, "WaitUntil") || name == "SignalWaitUntil" {
			measured[name+"Context"] = true // it may allocate
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	verbs := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range syntax.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || !takesSym(f) || givesCollective(f) {
				continue
			}
			verbs++
			if !measured[f.Name.Name] {
				t.Errorf("%s takes a symmetric object: add it to the verbs above", f.Name.Name)
			}
		}
	}
	if verbs < 40 {
		t.Errorf("found %d verbs only", verbs)
	}
}

// givesCollective reports whether f starts a goroutine, and allocates what stands for it.
func givesCollective(f *ast.FuncDecl) bool {
	return f.Type.Results != nil && pointsTo(f.Type.Results.List[0].Type, "Collective")
}

// pointsTo reports whether e is a pointer to the package's type name.
func pointsTo(e ast.Expr, name string) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	id, ok := star.X.(*ast.Ident)
	return ok && id.Name == name
}

func takesSym(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		index, ok := p.Type.(*ast.IndexExpr)
		if !ok {
			return false
		}
		id, ok := index.X.(*ast.Ident)
		return ok && id.Name == "Sym"
	})
}
