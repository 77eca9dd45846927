// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What a type cannot do is refused when the program is compiled.
func TestReject(t *testing.T) {
	tests := []struct {
		rejected string // one statement
		because  string // in the compiler's words
		accepted string // its twin
	}{
		// Types that have no such atomic.
		{"shmem.AtomicAdd(c128, 1, 0)", "complex128 does not satisfy shmem.Scalar", "shmem.AtomicAdd(c64, 1, 0)"},
		{"shmem.AtomicFetchAdd(b, true, 0)", "bool does not satisfy shmem.Scalar", "shmem.AtomicFetchAdd(f32, 1, 0)"},
		{"shmem.AtomicInc(c64, 0)", "complex64 does not satisfy shmem.Integer", "shmem.AtomicInc(u8, 0)"},
		{"shmem.AtomicFetch(c128, 0)", "complex128 does not satisfy shmem.Scalar", "shmem.AtomicFetch(c64, 0)"},
		{"shmem.AtomicSet(c128, 1, 0)", "complex128 does not satisfy shmem.Scalar", "shmem.AtomicSet(f64, 1, 0)"},
		{"shmem.AtomicSwap(b, true, 0)", "bool does not satisfy shmem.Scalar", "shmem.AtomicSwap(f32, 1, 0)"},
		{"shmem.AtomicFetch(st, 0)", "does not satisfy shmem.Scalar", "shmem.AtomicFetch(named, 0)"},
		{"shmem.AtomicCompareSwap(f64, 1, 2, 0)", "float64 does not satisfy shmem.Integer", "shmem.AtomicCompareSwap(u64, 1, 2, 0)"},
		{"shmem.AtomicAnd(f64, 1, 0)", "float64 does not satisfy shmem.Bitwise", "shmem.AtomicAnd(i64, 1, 0)"},
		{"shmem.AtomicFetchOr(c64, 1, 0)", "complex64 does not satisfy shmem.Bitwise", "shmem.AtomicFetchOr(u8, 1, 0)"},
		{"shmem.AtomicFetchXorNBI(new(float64), f64, 1, 0)", "float64 does not satisfy shmem.Bitwise", "shmem.AtomicFetchXorNBI(new(int64), i64, 1, 0)"},
		{"shmem.AtomicFetchAddNBI(new(complex128), c128, 1, 0)", "complex128 does not satisfy shmem.Scalar", "shmem.AtomicFetchAddNBI(new(uint32), u32, 1, 0)"},
		{"shmem.AtomicFetchIncNBI(new(float32), f32, 0)", "float32 does not satisfy shmem.Integer", "shmem.AtomicFetchIncNBI(new(uint32), u32, 0)"},
		{"shmem.AtomicMin(c64, 1, 0)", "complex64 does not satisfy shmem.Ordered", "shmem.AtomicMin(f32, 1, 0)"},
		{"shmem.AtomicFetchMin(c128, 1, 0)", "complex128 does not satisfy shmem.Ordered", "shmem.AtomicFetchMin(named, 1, 0)"},
		{"shmem.AtomicMax(b, true, 0)", "bool does not satisfy shmem.Ordered", "shmem.AtomicMax(u8, 1, 0)"},
		{"shmem.AtomicFetchMax(c64, 1, 0)", "complex64 does not satisfy shmem.Ordered", "shmem.AtomicFetchMax(f64, 1, 0)"},
		{"shmem.AtomicProd(c128, 1, 0)", "complex128 does not satisfy shmem.Scalar", "shmem.AtomicProd(c64, 1, 0)"},
		{"shmem.AtomicFetchProd(b, true, 0)", "bool does not satisfy shmem.Scalar", "shmem.AtomicFetchProd(u8, 1, 0)"},
		{"shmem.AtomicLogicalAnd(b, true, 0)", "bool does not satisfy shmem.Scalar", "shmem.AtomicLogicalAnd(f64, 1, 0)"},
		{"shmem.AtomicFetchLogicalOr(c128, 1, 0)", "complex128 does not satisfy shmem.Scalar", "shmem.AtomicFetchLogicalOr(c64, 1, 0)"},
		{"shmem.AtomicFetchLogicalXor(s, \"\", 0)", "string does not satisfy shmem.Scalar", "shmem.AtomicFetchLogicalXor(u8, 1, 0)"},
		{"shmem.AtomicMaskedSwap(f64, 1, 2, 0)", "float64 does not satisfy shmem.Bitwise", "shmem.AtomicMaskedSwap(u64, 1, 2, 0)"},
		{"shmem.AtomicMaskedSwap(c64, 1, 2, 0)", "complex64 does not satisfy shmem.Bitwise", "shmem.AtomicMaskedSwap(u8, 1, 2, 0)"},
		{"shmem.AtomicCompareSwapIf(c128, shmem.CmpEQ, 1, 2, 0)", "complex128 does not satisfy shmem.Scalar", "shmem.AtomicCompareSwapIf(c64, shmem.CmpEQ, 1, 2, 0)"},
		{"shmem.AtomicCompareSwapIf(i64, x, 1, 2, 0)", "cannot use x", "shmem.AtomicCompareSwapIf(i64, shmem.CmpLT, 1, 2, 0)"},

		// Waits, signals and reductions.
		{"shmem.WaitUntil(f64, shmem.CmpEQ, 1)", "float64 does not satisfy shmem.Integer", "shmem.WaitUntil(i64, shmem.CmpEQ, 1)"},
		{"shmem.Test(f32, shmem.CmpGT, 0)", "float32 does not satisfy shmem.Integer", "shmem.Test(u8, shmem.CmpGT, 0)"},
		{"shmem.WaitUntil(i64, 7+x, 1)", "cannot use 7 + x", "shmem.WaitUntil(i64, shmem.CmpLE, int64(x))"},
		{"shmem.SignalSet(i64, 1, 0)", "cannot use i64", "shmem.SignalSet(u64, 1, 0)"},
		{"shmem.SignalWaitUntil(u32, shmem.CmpEQ, 1)", "cannot use u32", "shmem.SignalWaitUntil(u64, shmem.CmpEQ, 1)"},
		{"shmem.PutSignal(i64, nil, i64, 1, shmem.SigSet, 0)", "cannot use i64", "shmem.PutSignal(i64, nil, u64, 1, shmem.SigSet, 0)"},
		{"shmem.SumReduce(pe.World(), s, s)", "string does not satisfy shmem.Numeric", "shmem.SumReduce(pe.World(), c128, c128)"},
		{"shmem.SumReduce(pe.World(), b, b)", "bool does not satisfy shmem.Numeric", "shmem.SumReduce(pe.World(), named, named)"},
		{"shmem.ProdReduce(pe.World(), b, b)", "bool does not satisfy shmem.Numeric", "shmem.ProdReduce(pe.World(), c64, c64)"},
		{"shmem.MaxReduce(pe.World(), c64, c64)", "complex64 does not satisfy shmem.Ordered", "shmem.MaxReduce(pe.World(), f32, f32)"},
		{"shmem.MinReduce(pe.World(), c128, c128)", "complex128 does not satisfy shmem.Ordered", "shmem.MinReduce(pe.World(), named, named)"},
		{"shmem.MaxReduceScatter(pe.World(), s, s)", "string does not satisfy shmem.Ordered", "shmem.MaxReduceScatter(pe.World(), u8, u8)"},
		{"shmem.AndReduce(pe.World(), f64, f64)", "float64 does not satisfy shmem.Bitwise", "shmem.AndReduce(pe.World(), u32, u32)"},
		{"shmem.OrReduce(pe.World(), b, b)", "bool does not satisfy shmem.Bitwise", "shmem.OrReduce(pe.World(), i64, i64)"},
		{"shmem.XorReduce(pe.World(), c64, c64)", "complex64 does not satisfy shmem.Bitwise", "shmem.XorReduce(pe.World(), u8, u8)"},
		{"shmem.SumInclusiveScan(pe.World(), b, b)", "bool does not satisfy shmem.Numeric", "shmem.SumInclusiveScan(pe.World(), c128, c128)"},
		{"shmem.SumExclusiveScan(pe.World(), st, st)", "does not satisfy shmem.Numeric", "shmem.SumExclusiveScan(pe.World(), f32, f32)"},
		{"shmem.SumReduceScatter(pe.World(), s, s)", "string does not satisfy shmem.Numeric", "shmem.SumReduceScatter(pe.World(), c64, c64)"},
		{"shmem.AllToAllV(pe.World(), st, st, u64, nil)", "cannot use u64", "shmem.AllToAllV(pe.World(), st, st, i64, nil)"},
		{"shmem.Collect(pe.World(), f64, f32)", "does not match", "shmem.Collect(pe.World(), st, st)"},
		{"shmem.SumReduce(pe.World(), st, st)", "does not satisfy shmem.Numeric", "shmem.Broadcast(pe.World(), st, st, 0)"},

		// Element types that differ.
		{"shmem.Put(i64, []int32{1}, 0)", "type []int32 of []int32{…} does not match", "shmem.Put(i64, []int64{1}, 0)"},
		{"shmem.Put(named, []int64{1}, 0)", "does not match", "shmem.Put(named, []temperature{1}, 0)"},
		{"shmem.Get([]uint64{1}, i64, 0)", "does not match", "shmem.Get([]uint64{1}, u64, 0)"},
		{"shmem.PutV(i64, []shmem.Part[int32]{}, 0)", "does not match", "shmem.PutV(i64, []shmem.Part[int64]{{At: 1}}, 0)"},
		{"shmem.GetV([]shmem.Part[int64]{{0, []int32{1}}}, i64, 0)", "cannot use []int32{…}", "shmem.GetV([]shmem.Part[int64]{{0, []int64{1}}}, i64, 0)"},
		{"shmem.PutValue(i64, x, 0)", "type int of x does not match", "shmem.PutValue(i64, int64(x), 0)"},
		{"shmem.SumReduce(pe.World(), f64, f32)", "does not match", "shmem.SumReduce(pe.World(), f64, f64)"},
		{"shmem.Broadcast(pe.World(), u64, i64, 0)", "does not match", "shmem.Broadcast(pe.World(), u64, u64, 0)"},
		{"shmem.FCollect(pe.World(), u8, u32)", "does not match", "shmem.FCollect(pe.World(), u8, u8)"},
		{"shmem.AtomicSwapNBI(new(int32), i64, 1, 0)", "does not match", "shmem.AtomicSwapNBI(new(int64), i64, 1, 0)"},
		{"var _ shmem.Sym[int64] = u64", "cannot use u64", "var _ shmem.Sym[uint64] = u64"},

		// What is not one PE's object.
		{"shmem.Put([]int64{1}, []int64{1}, 0)", "does not match", "shmem.Put(i64, i64.Local(), 0)"},
		{"shmem.Put(i64, i64, 0)", "does not match", "shmem.Get(i64.Local(), i64, 0)"},
		{"shmem.Put(i64, []int64{1}, u64)", "cannot use u64", "shmem.Put(i64, []int64{1}, x)"},
	}
	imported := compiled(t)
	for _, test := range tests {
		errs := typeErrors(t, imported, test.rejected)
		if len(errs) == 0 {
			t.Errorf("%s: compiles", test.rejected)
		} else if !strings.Contains(errs[0].Error(), test.because) {
			t.Errorf("%s: is rejected because of %v, want %q", test.rejected, errs[0], test.because)
		}
		if errs := typeErrors(t, imported, test.accepted); len(errs) > 0 {
			t.Errorf("%s: does not compile: %v", test.accepted, errs)
		}
	}
}

// compiled imports package shmem and what it needs as they have been compiled.
func compiled(t *testing.T) types.Importer {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[name] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) { return os.Open(files[name]) })
}

// typeErrors compiles a program with a statement.
func typeErrors(t *testing.T, imported types.Importer, statement string) []error {
	t.Helper()
	source := fmt.Sprintf(`package p

import "github.com/goshmem/goshmem/shmem"

type temperature int64

func f(pe *shmem.PE, x int,
	i64 shmem.Sym[int64], u8 shmem.Sym[uint8], u32 shmem.Sym[uint32], u64 shmem.Sym[uint64],
	f32 shmem.Sym[float32], f64 shmem.Sym[float64], c64 shmem.Sym[complex64], c128 shmem.Sym[complex128],
	b shmem.Sym[bool], s shmem.Sym[string], st shmem.Sym[struct{ a int }], named shmem.Sym[temperature],
) {
	%s
}
`, statement)
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	var errs []error
	config := types.Config{Importer: imported, Error: func(err error) { errs = append(errs, err) }}
	_, _ = config.Check("p", fset, []*ast.File{syntax}, nil) // errs has all errors
	return errs
}
