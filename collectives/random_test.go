// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/fabric"
)

// TestRandom_CallsOneAfterAnother: members that run ahead or behind meet each other's
// slots, words and rounds of all kinds of calls.
func TestRandom_CallsOneAfterAnother(t *testing.T) {
	calls := 200
	if testing.Short() {
		calls = 50
	}
	for _, n := range []int{1, 3, 9} {
		for seed := range uint64(2) {
			run(t, n, func(m member) error {
				same := rand.New(rand.NewPCG(seed, 1))
				own := rand.New(rand.NewPCG(seed, uint64(m.Me()+100)))
				for i := range calls {
					if err := m.random(i, same, own); err != nil {
						return fmt.Errorf("seed %d, call %d: %w", seed, i, err)
					}
				}
				return m.Leave(collectives.Call{Kind: collectives.KindDestroy})
			}, allNil)
		}
	}
}

// TestRandom_WithTheAlgorithmsAskedFor: where they serve, they do what the usual ones do, and
// one synchronisation can follow another.
func TestRandom_WithTheAlgorithmsAskedFor(t *testing.T) {
	for _, asked := range []string{
		"sync=flat,reduce=shares,scan=shares,broadcast=shown,fcollect=push,alltoall=push",
		"sync=central,reduce=tree,scan=tree,broadcast=tree,fcollect=dissemination,alltoall=flags",
		"sync=star,reduce=carried,broadcast=carried",
		"sync=dissemination,reduce=doubling,broadcast=relay",
		"reduce=halving,collect=dissemination",
	} {
		choices, err := collectives.ParseChoices(asked)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{2, 5, 9} {
			run(t, n, func(m member) error {
				same := rand.New(rand.NewPCG(3, 1))
				own := rand.New(rand.NewPCG(3, uint64(m.Me()+100)))
				for i := range 60 {
					if i == 20 { // after some of the usual ones
						m.Choose(choices)
					}
					if err := m.random(i, same, own); err != nil {
						return fmt.Errorf("%s, call %d: %w", asked, i, err)
					}
				}
				return m.Leave(collectives.Call{Kind: collectives.KindDestroy})
			}, allNil)
		}
	}
}

// random makes the call that all members draw from same, and checks its result.
func (m member) random(i int, same, own *rand.Rand) error {
	const most = 600
	n, np, me := same.IntN(most), m.NPEs(), m.Me()
	if same.IntN(2) == 0 {
		n %= 15
	}
	kind, root := same.IntN(11), same.IntN(np)
	switch own.IntN(6) {
	case 0:
		time.Sleep(time.Duration(own.IntN(100)) * time.Microsecond)
	case 1:
		runtime.Gosched()
	}
	// Two places by turns: whoever is a call behind still reads the other.
	src := fabric.Addr(data + i%2*most*8)
	dst := fabric.Addr(data + 2*most*8 + i%2*most*8*10)
	value := func(pe, k int) uint64 { return uint64(i)<<32 + uint64(pe)<<20 + uint64(k) }
	in, out := words(m.mem, src, most), words(m.mem, dst, most*10)
	for k := range in {
		in[k] = value(me, k)
	}
	a := collectives.Array{Dst: dst, Src: src, N: n}
	sum := func(lo, hi, k int) (s uint64) {
		for pe := lo; pe < hi; pe++ {
			s += value(pe, k)
		}
		return s
	}
	check := func(what string, n int, want func(k int) uint64) error {
		for k := range n {
			if out[k] != want(k) {
				return fmt.Errorf("%s of %d: element %d is %#x, want %#x", what, n, k, out[k], want(k))
			}
		}
		return nil
	}
	// Who pushes needs a dst that its owner has finished with.
	ready := func() error { return m.Sync(collectives.Call{Kind: collectives.KindSyncAll}) }
	switch kind {
	case 0, 1, 2:
		if err := collectives.Broadcast(m.Group, dst, src, 8, n, root); err != nil {
			return err
		}
		return check("broadcast", n, func(k int) uint64 { return value(root, k) })
	case 3:
		if err := ready(); err != nil {
			return err
		}
		if err := collectives.SumReduce[uint64](m.Group, a); err != nil {
			return err
		}
		return check("sum", n, func(k int) uint64 { return sum(0, np, k) })
	case 4:
		if err := ready(); err != nil {
			return err
		}
		if err := collectives.SumExclusiveScan[uint64](m.Group, a); err != nil {
			return err
		}
		return check("scan", n, func(k int) uint64 { return sum(0, me, k) })
	case 5:
		if err := ready(); err != nil {
			return err
		}
		if err := collectives.FCollect(m.Group, dst, src, 8, n); err != nil {
			return err
		}
		return check("fcollect", n*np, func(k int) uint64 { return value(k/n, k%n) })
	case 6:
		if err := ready(); err != nil {
			return err
		}
		first := 0
		for pe := range me {
			first += (n + pe) % 7
		}
		if err := collectives.Collect(m.Group, dst, src, 8, (n+me)%7, 7*np); err != nil {
			return err
		}
		for k := range (n + me) % 7 {
			if out[first+k] != value(me, k) {
				return fmt.Errorf("collect: element %d is %#x", k, out[first+k])
			}
		}
		return nil
	case 7:
		mask, err := m.AgreeMask(collectives.Call{Kind: collectives.KindAlloc}, ^(uint64(1) << (me + i%8)))
		if want := ^((uint64(1)<<np - 1) << (i % 8)); err == nil && mask != want {
			err = fmt.Errorf("mask %#x, want %#x", mask, want)
		}
		return err
	case 8:
		failed, err := m.Agree(collectives.Call{Kind: collectives.KindAlloc}, n%3 == 0 && root == me)
		if err == nil && failed != (n%3 == 0) {
			err = fmt.Errorf("failed: %t with %d", failed, n%3)
		}
		return err
	case 9:
		if err := ready(); err != nil {
			return err
		}
		n %= most / np
		if err := collectives.AllToAll(m.Group, dst, src, 8, n); err != nil {
			return err
		}
		return check("alltoall", n*np, func(k int) uint64 { return value(k/n, me*n+k%n) })
	default:
		pairs, err := m.Pairs(collectives.Call{Kind: collectives.KindSplitColor}, collectives.Pair{A: i, B: -me})
		for pe, p := range pairs {
			if (p != collectives.Pair{A: i, B: -pe}) {
				return fmt.Errorf("pair %d is %v", pe, p)
			}
		}
		if err != nil {
			return err
		}
		return ready()
	}
}
