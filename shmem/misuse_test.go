// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// objects are what calls misuse.
type objects struct {
	pe      *shmem.PE
	x       shmem.Sym[int64]  // of 8 elements
	y       shmem.Sym[int64]  // of 4
	sig     shmem.Sym[uint64] // of 2
	freed   shmem.Sym[int64]
	ref     shmem.Ref[int64]      // to freed
	lock    shmem.Sym[shmem.Lock] // of 2, the second of which PE 0 holds
	zero    shmem.Sym[int64]
	complex shmem.Sym[complex64] // of 1
}

// A misuse is a call that must panic. All of a call is on one line, which the
// panic must name.
type misuse struct {
	op   string
	want []string // what the text must say beside operation, PE and place
	call func(o objects)
}

var eight = make([]int64, 8)

const ofEight = "[]int64 of 8 elements at offset "

func misuses() []misuse {
	return []misuse{
		// The zero object.
		{"Put", []string{"zero Sym[int64]", "Alloc", "element 0", "PE 1"}, func(o objects) { shmem.Put(o.zero, eight[:1], 1) }},
		{"Get", []string{"zero Sym[int64]", "elements 0 to 7"}, func(o objects) { shmem.Get(eight, o.zero, 0) }},
		{"PutValue", []string{"zero Sym[int64]"}, func(o objects) { shmem.PutValue(o.zero, 1, 0) }},
		{"AtomicFetch", []string{"zero Sym[int64]"}, func(o objects) { shmem.AtomicFetch(o.zero, 0) }},
		{"AtomicMax", []string{"zero Sym[int64]"}, func(o objects) { shmem.AtomicMax(o.zero, 1, 0) }},
		{"AtomicCompareSwapIf", []string{"zero Sym[int64]"}, func(o objects) { shmem.AtomicCompareSwapIf(o.zero, shmem.CmpNE, 1, 1, 0) }},
		{"WaitUntil", []string{"zero Sym[int64]"}, func(o objects) { shmem.WaitUntil(o.zero, shmem.CmpEQ, 0) }},
		{"PutV", []string{"zero Sym[int64]"}, func(o objects) { shmem.PutV(o.zero, nil, 0) }},
		{"PutStrided", []string{"zero Sym[int64]"}, func(o objects) { shmem.PutStrided(o.zero, eight, 1, 1, 2, 0) }},
		{"SumReduce", []string{"zero Sym[int64]"}, func(o objects) { shmem.SumReduce(o.pe.World(), o.zero, o.x) }},
		{"Broadcast", []string{"zero Sym[int64]"}, func(o objects) { shmem.Broadcast(o.pe.World(), o.x, o.zero, 0) }},
		{"Ptr", []string{"zero Sym[int64]"}, func(o objects) { shmem.Ptr(o.zero, 0) }},

		{"SumReduceAsync", []string{"zero Sym[int64]"}, func(o objects) { shmem.SumReduceAsync(o.pe.World(), o.zero, o.x) }},

		{"On", []string{ofEight, "the context is nil"}, func(o objects) { o.x.On(nil) }},

		// PEs that there are not.
		{"Put", []string{ofEight, "PE -1 is out of range", "0 to 1"}, func(o objects) { shmem.Put(o.x, eight, -1) }},
		{"Put", []string{ofEight, "target PE 2", "0 to 1", "elements 0 to 7"}, func(o objects) { shmem.Put(o.x, eight, 2) }},
		{"Put", []string{ofEight, "PE 2"}, func(o objects) { shmem.Put(o.x, nil, 2) }},
		{"Get", []string{ofEight, "PE 1000000"}, func(o objects) { shmem.Get(eight, o.x, 1000000) }},
		{"PutNBI", []string{ofEight, "PE 2"}, func(o objects) { shmem.PutNBI(o.x, eight, 2) }},
		{"GetV", []string{ofEight, "PE 2"}, func(o objects) { shmem.GetV(nil, o.x, 2) }},
		{"GetNBI", []string{ofEight, "PE -1"}, func(o objects) { shmem.GetNBI(eight, o.x, -1) }},
		{"PutValue", []string{"of 1 elements", "PE 2"}, func(o objects) { shmem.PutValue(o.x.At(0), 1, 2) }},
		{"GetValue", []string{"of 1 elements", "PE -1"}, func(o objects) { shmem.GetValue(o.x.At(0), -1) }},
		{"GetStrided", []string{ofEight, "PE 2"}, func(o objects) { shmem.GetStrided(eight, o.x, 1, 1, 2, 2) }},
		{"PutBlocks", []string{ofEight, "PE 2"}, func(o objects) { shmem.PutBlocks(o.x, eight, 2, 2, 1, 0, 2) }},
		{"AtomicAdd", []string{"of 1 elements", "PE 2"}, func(o objects) { shmem.AtomicAdd(o.x.At(7), 1, 2) }},
		{"AtomicCompareSwap", []string{"of 1 elements", "PE 3"}, func(o objects) { shmem.AtomicCompareSwap(o.x.At(7), 1, 2, 3) }},
		{"AtomicSwapNBI", []string{"of 1 elements", "PE 2"}, func(o objects) { shmem.AtomicSwapNBI(new(int64), o.x.At(7), 1, 2) }},
		{"PutSignal", []string{"PE 2"}, func(o objects) { shmem.PutSignal(o.x, eight, o.sig.At(0), 1, shmem.SigSet, 2) }},
		{"AtomicInc", []string{"of 1 elements", "PE 9"}, func(o objects) { shmem.AtomicInc(o.x.At(1), 9) }},
		{"SignalAdd", []string{"PE 2"}, func(o objects) { shmem.SignalAdd(o.sig.At(0), 1, 2) }},
		{"PutSignalNBI", []string{"PE 2"}, func(o objects) { shmem.PutSignalNBI(o.x, eight, o.sig.At(0), 1, shmem.SigSet, 2) }},
		{"SignalSet", []string{"PE -2"}, func(o objects) { shmem.SignalSet(o.sig.At(0), 1, -2) }},
		{"Broadcast", []string{"PE 2"}, func(o objects) { shmem.Broadcast(o.pe.World(), o.y, o.x.Slice(0, 4), 2) }},
		{"BroadcastAsync", []string{"PE 2"}, func(o objects) { shmem.BroadcastAsync(o.pe.World(), o.y, o.x.Slice(0, 4), 2) }},
		{"Ptr", []string{ofEight, "PE 2"}, func(o objects) { shmem.Ptr(o.x, 2) }},

		// Elements that there are not.
		{"Put", []string{ofEight, "9 elements do not fit the object's 8", "elements 0 to 8", "target PE 1"}, func(o objects) { shmem.Put(o.x, make([]int64, 9), 1) }},
		{"Get", []string{"of 2 elements", "elements 0 to 7"}, func(o objects) { shmem.Get(eight, o.x.Slice(6, 8), 0) }},
		{"PutNBI", []string{"of 1 elements"}, func(o objects) { shmem.PutNBI(o.x.At(3), eight, 0) }},
		{"PutSignal", []string{"of 4 elements", "elements 0 to 7"}, func(o objects) { shmem.PutSignal(o.y, eight, o.sig.At(0), 1, shmem.SigAdd, 0) }},
		{"PutStrided", []string{ofEight, "4 blocks", "stride 3", "object's 8"}, func(o objects) { shmem.PutStrided(o.x, eight, 3, 1, 4, 0) }},
		{"PutStrided", []string{ofEight, "4 blocks", "stride 3", "local slice's 8"}, func(o objects) { shmem.PutStrided(o.x, eight, 1, 3, 4, 0) }},
		{"GetStrided", []string{ofEight, "stride 8", "object's 8"}, func(o objects) { shmem.GetStrided(eight, o.x, 1, 8, 2, 0) }},
		{"GetBlocks", []string{ofEight, "2 blocks of 2", "stride 7", "local slice's 8"}, func(o objects) { shmem.GetBlocks(eight, o.x, 7, 3, 2, 2, 0) }},
		{"PutStrided", []string{"object's 8"}, func(o objects) { shmem.PutStrided(o.x, eight, 1<<62, 1, 3, 0) }},
		{"PutV", []string{ofEight, "part 1, 2 elements from 7 on, does not fit the object's 8"}, func(o objects) { shmem.PutV(o.x, []shmem.Part[int64]{{0, eight}, {7, eight[:2]}}, 0) }},
		{"GetV", []string{ofEight, "part 0, 9 elements from 0 on"}, func(o objects) { shmem.GetV([]shmem.Part[int64]{{0, make([]int64, 9)}}, o.x, 0) }},
		{"PutV", []string{"part 0, 0 elements from 9 on"}, func(o objects) { shmem.PutV(o.x, []shmem.Part[int64]{{9, nil}}, 0) }},
		{"GetV", []string{"part 0, 1 elements from -1 on"}, func(o objects) { shmem.GetV([]shmem.Part[int64]{{-1, eight[:1]}}, o.x, 0) }},
		{"At", []string{"of 8 elements", "element 8", "out of bounds"}, func(o objects) { o.x.At(8) }},
		{"At", []string{"element -1"}, func(o objects) { o.x.At(-1) }},
		{"Slice", []string{"of 8 elements", "elements 3 to 8"}, func(o objects) { o.x.Slice(3, 9) }},
		{"Slice", []string{"of 8 elements"}, func(o objects) { o.x.Slice(3, 2) }},
		{"SumReduce", []string{"of 4 elements", "8 elements do not fit"}, func(o objects) { shmem.SumReduce(o.pe.World(), o.y, o.x) }},
		{"FCollect", []string{ofEight, "16 elements do not fit"}, func(o objects) { shmem.FCollect(o.pe.World(), o.x, o.x) }},
		{"AllToAll", []string{"7 elements", "2 equal blocks"}, func(o objects) { shmem.AllToAll(o.pe.World(), o.x, o.x.Slice(0, 7)) }},
		{"Broadcast", []string{"of 4 elements"}, func(o objects) { shmem.Broadcast(o.pe.World(), o.y, o.x, 0) }},

		// Objects that have been freed.
		{"Put", []string{ofEight, "was freed"}, func(o objects) { shmem.Put(o.freed, eight, 0) }},
		{"Get", []string{"was freed", "target PE 1"}, func(o objects) { shmem.Get(eight[:2], o.freed.Slice(2, 5), 1) }},
		{"PutV", []string{"was freed"}, func(o objects) { shmem.PutV(o.freed, []shmem.Part[int64]{{0, eight}}, 0) }},
		{"PutValue", []string{"was freed"}, func(o objects) { shmem.PutValue(o.freed.At(1), 1, 0) }},
		{"GetStrided", []string{"was freed"}, func(o objects) { shmem.GetStrided(eight, o.freed, 1, 1, 8, 0) }},
		{"AtomicFetchAdd", []string{"was freed"}, func(o objects) { shmem.AtomicFetchAdd(o.freed.At(1), 1, 0) }},
		{"AtomicFetchProd", []string{"was freed"}, func(o objects) { shmem.AtomicFetchProd(o.freed.At(1), 1, 0) }},
		{"AtomicCompareSwapIf", []string{"was freed"}, func(o objects) { shmem.AtomicCompareSwapIf(o.freed.At(1), shmem.CmpGT, 1, 1, 0) }},
		{"AtomicFetchAddNBI", []string{"was freed"}, func(o objects) { shmem.AtomicFetchAddNBI(new(int64), o.freed.At(1), 1, 0) }},
		{"WaitUntil", []string{"was freed"}, func(o objects) { shmem.WaitUntil(o.freed.At(0), shmem.CmpEQ, 0) }},
		{"Test", []string{"was freed"}, func(o objects) { shmem.Test(o.freed.At(0), shmem.CmpEQ, 0) }},
		{"SumReduce", []string{"was freed"}, func(o objects) { shmem.SumReduce(o.pe.World(), o.freed, o.x) }},
		{"Free", []string{ofEight, "was freed"}, func(o objects) { shmem.Free(o.freed) }},
		{"Realloc", []string{"was freed"}, func(o objects) { _, _ = shmem.Realloc(o.pe, o.freed, 3) }},

		// What is freed or resized is an object, not a part of one.
		{"Free", []string{"of 3 elements", "a part of an object of 64 bytes"}, func(o objects) { shmem.Free(o.x.Slice(0, 3)) }},
		{"Free", []string{"of 1 elements", "a part"}, func(o objects) { shmem.Free(o.x.At(7)) }},
		{"Free", []string{"a part"}, func(o objects) { shmem.Free(o.x.Slice(8, 8)) }},
		{"Realloc", []string{"a part"}, func(o objects) { _, _ = shmem.Realloc(o.pe, o.x.Slice(1, 8), 3) }},

		// One element is wanted.
		{"PutValue", []string{ofEight, "has 8 elements", "At(i)"}, func(o objects) { shmem.PutValue(o.x, 1, 0) }},
		{"GetValue", []string{"has 0 elements"}, func(o objects) { shmem.GetValue(o.x.Slice(0, 0), 0) }},
		{"AtomicFetch", []string{"has 8 elements"}, func(o objects) { shmem.AtomicFetch(o.x, 0) }},
		{"AtomicXor", []string{"has 2 elements"}, func(o objects) { shmem.AtomicXor(o.sig, 1, 0) }},
		{"AtomicFetchIncNBI", []string{"has 8 elements"}, func(o objects) { shmem.AtomicFetchIncNBI(new(int64), o.x, 0) }},
		{"AtomicMin", []string{"has 8 elements"}, func(o objects) { shmem.AtomicMin(o.x, 1, 0) }},
		{"AtomicFetchLogicalOr", []string{"has 8 elements"}, func(o objects) { shmem.AtomicFetchLogicalOr(o.x, 1, 0) }},
		{"AtomicMaskedSwap", []string{"has 8 elements"}, func(o objects) { shmem.AtomicMaskedSwap(o.x, 1, 1, 1) }},
		{"AtomicCompareSwapIf", []string{"has 8 elements"}, func(o objects) { shmem.AtomicCompareSwapIf(o.x, shmem.CmpEQ, 1, 1, 1) }},
		{"PutSignal", []string{"has 2 elements"}, func(o objects) { shmem.PutSignal(o.x, eight, o.sig, 1, shmem.SigSet, 0) }},
		{"SignalFetch", []string{"has 2 elements"}, func(o objects) { shmem.SignalFetch(o.sig) }},
		{"WaitUntil", []string{"has 8 elements"}, func(o objects) { shmem.WaitUntil(o.x, shmem.CmpEQ, 0) }},
		{"Test", []string{"has 8 elements"}, func(o objects) { shmem.Test(o.x, shmem.CmpEQ, 0) }},

		// Several words.
		{"WaitUntilAll", []string{"zero Sym[int64]"}, func(o objects) { shmem.WaitUntilAll(o.zero, nil, shmem.CmpEQ, 0) }},
		{"WaitUntilAny", []string{"was freed"}, func(o objects) { shmem.WaitUntilAny(o.freed, nil, shmem.CmpEQ, 0) }},
		{"WaitUntilSome", []string{ofEight, "room for 7 indices"}, func(o objects) { shmem.WaitUntilSome(make([]int, 7), o.x, nil, shmem.CmpEQ, 0) }},
		{"WaitUntilAllVector", []string{ofEight, "there are 0 values"}, func(o objects) { shmem.WaitUntilAllVector(o.x, nil, shmem.CmpEQ, nil) }},
		{"WaitUntilAnyVector", []string{ofEight, "the mask has 9 elements, the object 8"}, func(o objects) { shmem.WaitUntilAnyVector(o.x, make([]int, 9), shmem.CmpEQ, eight) }},
		{"WaitUntilSomeVector", []string{"room for 0 indices"}, func(o objects) { shmem.WaitUntilSomeVector(nil, o.x, nil, shmem.CmpEQ, eight) }},
		{"TestAll", []string{ofEight, "comparison 7"}, func(o objects) { shmem.TestAll(o.x, nil, 7, 0) }},
		{"TestAny", []string{ofEight, "the mask has 0 elements"}, func(o objects) { shmem.TestAny(o.x, []int{}, shmem.CmpEQ, 0) }},
		{"TestSome", []string{"was freed"}, func(o objects) { shmem.TestSome(make([]int, 8), o.freed, nil, shmem.CmpEQ, 0) }},
		{"TestAllVector", []string{"there are 8 values, for an object of 4"}, func(o objects) { shmem.TestAllVector(o.y, nil, shmem.CmpEQ, eight) }},
		{"TestAnyVector", []string{"zero Sym[int64]"}, func(o objects) { shmem.TestAnyVector(o.zero, nil, shmem.CmpEQ, nil) }},
		{"TestSomeVector", []string{"comparison 6"}, func(o objects) { shmem.TestSomeVector(make([]int, 8), o.x, nil, shmem.CmpLE+1, eight) }},
		{"WaitUntilContext", []string{"has 8 elements"}, func(o objects) { _ = shmem.WaitUntilContext(context.Background(), o.x, shmem.CmpEQ, 0) }},
		{"WaitUntilAnyContext", []string{"was freed"}, func(o objects) { _, _ = shmem.WaitUntilAnyContext(context.Background(), o.freed, nil, shmem.CmpEQ, 0) }},

		// Locks.
		{"SetLock", []string{"has 2 elements", "At(i)"}, func(o objects) { shmem.SetLock(o.lock) }},
		{"SetLock", []string{"holds the lock already"}, func(o objects) { shmem.SetLock(o.lock.At(1)) }},
		{"ClearLock", []string{"does not hold the lock"}, func(o objects) { shmem.ClearLock(o.lock.At(0)) }},
		{"TestLock", []string{"zero Sym[shmem.Lock]"}, func(o objects) { shmem.TestLock(shmem.Sym[shmem.Lock]{}) }},

		// References and futures.
		{"Ref", []string{ofEight, "takes one"}, func(o objects) { o.x.Ref(0) }},
		{"Ref", []string{"PE 2 is out of range"}, func(o objects) { o.x.At(0).Ref(2) }},
		{"Sym", []string{"names no element", "on PE 1", "freed"}, func(o objects) { o.ref.Sym(o.pe) }},
		{"Sym", []string{"on PE 4"}, func(o objects) { (o.x.At(0).Ref(1) + 3<<44).Sym(o.pe) }},
		{"Sym", []string{"names no element"}, func(o objects) { (o.x.At(0).Ref(1) + 4).Sym(o.pe) }},
		{"PutAsync", []string{ofEight, "PE 2"}, func(o objects) { shmem.PutAsync(o.x, eight, 2) }},
		{"GetAsync", []string{"zero Sym[int64]"}, func(o objects) { shmem.GetAsync(eight, o.zero, 0) }},
		{"AtomicFetchAddAsync", []string{"result is nil"}, func(o objects) { shmem.AtomicFetchAddAsync(nil, o.x.At(0), 1, 0) }},

		// Values that mean nothing.
		{"WaitUntil", []string{"comparison 6"}, func(o objects) { shmem.WaitUntil(o.x.At(0), shmem.CmpLE+1, 0) }},
		{"Test", []string{"comparison 255"}, func(o objects) { shmem.Test(o.x.At(0), 255, 0) }},
		{"PutSignal", []string{"signal operator 2"}, func(o objects) { shmem.PutSignal(o.x, eight, o.sig.At(0), 1, shmem.SigAdd+1, 0) }},
		{"PutStrided", []string{"strides 0 (destination) and 1 (source)", "at least 1"}, func(o objects) { shmem.PutStrided(o.x, eight, 0, 1, 2, 0) }},
		{"GetStrided", []string{"strides 1 (destination) and -1 (source)"}, func(o objects) { shmem.GetStrided(eight, o.x, 1, -1, 2, 0) }},
		{"PutBlocks", []string{"strides 1 (destination) and 2 (source)", "at least 2"}, func(o objects) { shmem.PutBlocks(o.x, eight, 1, 2, 2, 2, 0) }},
		{"GetBlocks", []string{"-1 blocks of 2 elements"}, func(o objects) { shmem.GetBlocks(eight, o.x, 2, 2, 2, -1, 0) }},
		{"PutStrided", []string{"-3 blocks"}, func(o objects) { shmem.PutStrided(o.x, eight, 1, 1, -3, 0) }},
		{"AtomicCompareSwapIf", []string{"comparison 6"}, func(o objects) { shmem.AtomicCompareSwapIf(o.x.At(0), shmem.CmpLE+1, 0, 0, 0) }},
		{"AtomicCompareSwapIf", []string{"comparison 255"}, func(o objects) { shmem.AtomicCompareSwapIf(o.x.At(0), 255, 0, 0, 0) }},
		{"AtomicCompareSwapIf", []string{"[]complex64 of 1 elements", "no order", "< is neither CmpEQ nor CmpNE"}, func(o objects) { shmem.AtomicCompareSwapIf(o.complex, shmem.CmpLT, 0, 0, 0) }},
		{"AtomicFetchNBI", []string{"result is nil"}, func(o objects) { shmem.AtomicFetchNBI(nil, o.x.At(0), 1) }},
		{"Alloc", []string{"-1 elements"}, func(o objects) { _, _ = shmem.Alloc[int64](o.pe, -1) }},
		{"Realloc", []string{"-2 elements"}, func(o objects) { _, _ = shmem.Realloc(o.pe, o.x, -2) }},
		{"AllocAligned", []string{"alignment 0"}, func(o objects) { _, _ = shmem.AllocAligned[int64](o.pe, 1, 0) }},
		{"AllocAligned", []string{"alignment 24", "a power of two from 8 to 4096"}, func(o objects) { _, _ = shmem.AllocAligned[int64](o.pe, 1, 24) }},
		{"AllocAligned", []string{"alignment 4"}, func(o objects) { _, _ = shmem.AllocAligned[int64](o.pe, 1, 4) }},
		{"AllocAligned", []string{"alignment 8192"}, func(o objects) { _, _ = shmem.AllocAligned[int64](o.pe, 1, 8192) }},
		{"AllocAligned", []string{"-1 elements"}, func(o objects) { _, _ = shmem.AllocAligned[int64](o.pe, -1, 8) }},
		{"SumReduce", []string{"the team is nil"}, func(o objects) { shmem.SumReduce(nil, o.x, o.x) }},

		// Elements with pointers.
		{"Alloc", []string{"*int", "a ptr"}, func(o objects) { _, _ = shmem.Alloc[*int](o.pe, 1) }},
		{"Alloc", []string{"string"}, func(o objects) { _, _ = shmem.Alloc[string](o.pe, 1) }},
		{"Alloc", []string{"[]int8"}, func(o objects) { _, _ = shmem.Alloc[[]int8](o.pe, 1) }},
		{"Alloc", []string{"map"}, func(o objects) { _, _ = shmem.Alloc[map[int]int](o.pe, 1) }},
		{"Alloc", []string{"func"}, func(o objects) { _, _ = shmem.Alloc[func()](o.pe, 1) }},
		{"Alloc", []string{"chan"}, func(o objects) { _, _ = shmem.Alloc[chan int](o.pe, 1) }},
		{"Alloc", []string{"interface"}, func(o objects) { _, _ = shmem.Alloc[any](o.pe, 0) }},
		{"AllocHint", []string{".B[0].P is a ptr"}, func(o objects) { _, _ = shmem.AllocHint[withPointer](o.pe, 1, 0) }},
		{"AllocAligned", []string{".B[0].P is a ptr"}, func(o objects) { _, _ = shmem.AllocAligned[withPointer](o.pe, 1, 64) }},
	}
}

type withPointer struct {
	A int
	B [2]struct{ P *byte }
}

// Misuse is found on every path: by the slow one, and where a fast one is tried first.
func TestMisuse_PanicsWithEverythingThatIsKnown(t *testing.T) {
	for _, place := range []struct {
		name string
		opts []shmemtest.Option
	}{
		{"far", nil},
		{"near", []shmemtest.Option{shmemtest.Nodes(2)}},
	} {
		t.Run(place.name, func(t *testing.T) {
			shmemtest.Run(t, 2, func(pe *shmem.PE) error {
				o := objects{pe: pe, x: alloc[int64](pe, 8), y: alloc[int64](pe, 4), sig: alloc[uint64](pe, 2), freed: alloc[int64](pe, 8), lock: alloc[shmem.Lock](pe, 2), complex: alloc[complex64](pe, 1)}
				o.ref = o.freed.At(1).Ref(1)
				shmem.Free(o.freed)
				if pe.MyPE() == 0 {
					shmem.SetLock(o.lock.At(1))
					for _, m := range misuses() {
						if err := m.check(o); err != nil {
							t.Error(err)
						}
					}
				}
				pe.BarrierAll() // none of them has moved the PE on, or its job
				return nil
			}, place.opts...)
		})
	}
}

// check calls and returns what is wrong with the panic.
func (m misuse) check(o objects) (err error) {
	file, line := runtime.FuncForPC(reflect.ValueOf(m.call).Pointer()).FileLine(reflect.ValueOf(m.call).Pointer())
	place := fmt.Sprintf("%s:%d", filepath.Base(file), line)
	defer func() {
		r := recover()
		var e *shmem.Error
		if cause, ok := r.(error); !ok || !errors.As(cause, &e) {
			err = fmt.Errorf("%s: %s did not panic with an *Error, but %v", place, m.op, r)
			return
		}
		if e.Op != m.op || e.PE > 0 { // -1 if a zero object does not tell
			err = fmt.Errorf("%s: the panic names %s by PE %d", place, e.Op, e.PE)
			return
		}
		if not := missing(e.Error(), append(m.want, "shmem: "+m.op, place)...); not != nil {
			err = fmt.Errorf("%s: %q lacks %q", place, e.Error(), not)
		}
	}()
	m.call(o)
	return nil
}
