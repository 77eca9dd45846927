// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/goshmem/goshmem/collectives"
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/symheap"
)

const segmentSize = 1 << 20

// data is where tests keep theirs, behind the words of the world's group and of a team's.
const data = 2 * collectives.GroupSize

// A member is one PE's part in a test.
type member struct {
	*collectives.Group
	mem []byte // own segment
	id  string // the setting's name, with the number of PEs
	setting
}

// A setting opens the domains of n PEs.
type setting struct {
	name    string
	crowded bool
	perNode int // PEs that reach each other directly; 0: none do
	open    func(n int) ([]fabric.Domain, error)
}

func settings() []setting {
	far := func(o loop.Options) func(n int) ([]fabric.Domain, error) {
		return func(n int) ([]fabric.Domain, error) {
			o.SegmentSize = segmentSize
			w, err := loop.New(n, o)
			if err != nil {
				return nil, err
			}
			ds := make([]fabric.Domain, n)
			for i := range ds {
				if ds[i], err = w.Open(fabric.Job{PE: i, NPEs: n}); err != nil {
					return nil, err
				}
			}
			return ds, nil
		}
	}
	return append([]setting{
		{"far", true, 0, far(loop.Options{})},
		{"far, delayed", true, 0, far(loop.Options{Seed: 7, MaxDelay: 100 * time.Microsecond})},
		{"split", true, 2, far(loop.Options{NodeSize: 2})},
		{"split, delayed", false, 3, far(loop.Options{NodeSize: 3, FabricAtomics: true, Seed: 7, MaxDelay: 100 * time.Microsecond})},
	}, nearSettings()...)
}

// nodes returns the PEs of n that are the first of nodes of size, as the race detector allows.
func nodes(n, size int) (first []int) {
	for pe := 0; pe < n && size > 0 && !race.Enabled; pe += size {
		first = append(first, pe)
	}
	return first
}

// run runs f on n PEs in every setting and has each setting's PEs' errors judged.
func run(t *testing.T, n int, f func(m member) error, judge func(t *testing.T, errs []error)) {
	t.Helper()
	runTeam(t, n, symheap.All(n), f, judge)
}

// runTeam is run on those of n PEs that are members of a team.
func runTeam(t *testing.T, n int, team symheap.Members, f func(m member) error, judge func(t *testing.T, errs []error)) {
	t.Helper()
	for _, s := range settings() {
		name := fmt.Sprintf("%s/np%d", s.name, n)
		t.Run(name, func(t *testing.T) {
			ds, err := s.open(n)
			if err != nil {
				t.Fatal(err)
			}
			errs, blobs := make([]error, n), make([][]byte, n)
			for i, d := range ds {
				if blobs[i], err = d.Register(d.Map(i)); err != nil {
					t.Fatal(err)
				}
			}
			var pes errgroup.Group
			for i, d := range ds {
				pes.Go(func() error {
					if err := d.Connect(fabric.NewTable(blobs)); err != nil {
						return err
					}
					ep, err := d.Endpoint()
					if err != nil {
						return err
					}
					w, off := symheap.NewWindow(d, ep, i, n), uintptr(0)
					if me := team.Index(i); me < 0 {
						return nil
					} else if team.NPEs() != n || me != i {
						w, off = w.Team(team, me, w.Endpoint()), collectives.GroupSize
					}
					g := collectives.New(w, off, s.crowded, collectives.Choices{}, nodes(n, s.perNode), func() string { return fmt.Sprintf("site of PE %d", i) })
					errs[i] = f(member{g, d.Map(i), name, s})
					return nil
				})
			}
			if err := pes.Wait(); err != nil {
				t.Fatal(err)
			}
			judge(t, errs)
		})
	}
}

func allNil(t *testing.T, errs []error) {
	t.Helper()
	for i, err := range errs {
		if err != nil {
			t.Errorf("PE %d: %v", i, err)
		}
	}
}

func TestSync_NobodyLeavesBeforeAllAreIn(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		in := map[string]*atomic.Int64{}
		for _, s := range settings() {
			in[fmt.Sprintf("%s/np%d", s.name, n)] = new(atomic.Int64)
		}
		run(t, n, func(m member) error {
			in := in[m.id]
			for round := range int64(50) {
				in.Add(1)
				if err := m.Sync(collectives.Call{Kind: collectives.KindBarrierAll}); err != nil {
					return err
				}
				if got, want := in.Load(), (round+1)*int64(n); got < want {
					return fmt.Errorf("round %d: left when %d arrivals had been, want %d", round, got, want)
				}
			}
			return nil
		}, allNil)
	}
}

func TestAgree_OneFailureIsEverybodys(t *testing.T) {
	const n = 3
	run(t, n, func(m member) error {
		for round := range 9 {
			failed, err := m.Agree(collectives.Call{Kind: collectives.KindAlloc}, round%4 == m.Me())
			if err != nil {
				return err
			}
			if want := round%4 < n; failed != want {
				return fmt.Errorf("round %d: failed is %t, want %t", round, failed, want)
			}
		}
		return nil
	}, allNil)
}

// doubled adds one value of each member as recursive doubling does.
func doubled(values []float64) float64 {
	all := 1 << (bits.Len(uint(len(values))) - 1)
	for i := all; i < len(values); i++ {
		values[i-all] += values[i]
	}
	for ; all > 1; all /= 2 {
		for i := range all / 2 {
			values[i] = values[2*i] + values[2*i+1]
		}
	}
	return values[0]
}

// treed adds one value of each member as a binomial tree does.
func treed(values []float64) float64 {
	for d := 1; d < len(values); d *= 2 {
		for i := 0; i+d < len(values); i += 2 * d {
			values[i] += values[i+d]
		}
	}
	return values[0]
}

// sum adds one value of each member as a sum of n does: in the members' order, or up a tree, and by
// pairs where one message takes what a member has to far ones. Of members that share nodes those of
// each come first.
func (s setting) sum(values []float64, n int) float64 {
	far := race.Enabled || !strings.HasPrefix(s.name, "near") // none is near to the detector
	if s.perNode > 0 && len(values) > s.perNode && !race.Enabled {
		var ofNodes []float64
		for node := range slices.Chunk(values, s.perNode) {
			ofNodes = append(ofNodes, ordered(node))
		}
		values = ofNodes
	}
	switch np := len(values); {
	case far && n <= 3:
		return doubled(values)
	case far && n <= 1024 && np > 16:
		return treed(values)
	case far && n > 1024: // halves are taken apart, and by pairs
		return doubled(values)
	}
	return ordered(values)
}

// ordered adds one value of each member in their order.
func ordered(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// All get the same bits.
func TestSumReduce_AddsInAFixedOrder(t *testing.T) {
	for _, np := range []int{1, 2, 3, 5, 18} {
		for _, n := range []int{0, 1, 7, 3000} {
			for _, inPlace := range []bool{false, true} {
				run(t, np, func(m member) error {
					src, dst := fabric.Addr(data), fabric.Addr(data+8*4096)
					if inPlace {
						dst = src
					}
					at := func(pe, i int) float64 { return 1/float64(pe+3) + float64(i) }
					own := floats(m.mem, src, n)
					for i := range own {
						own[i] = at(m.Me(), i)
					}
					if err := collectives.SumReduce[float64](m.Group, collectives.Array{Dst: dst, Src: src, N: n}); err != nil {
						return err
					}
					for i, got := range floats(m.mem, dst, n) {
						values := make([]float64, np)
						for pe := range values {
							values[pe] = at(pe, i)
						}
						if want := m.sum(values, n); got != want {
							return fmt.Errorf("element %d of %d (in place: %t): got %v, want %v", i, n, inPlace, got, want)
						}
					}
					return nil
				}, allNil)
			}
		}
	}
}

func TestBroadcast_ReachesAllFromEveryRoot(t *testing.T) {
	const np = 3
	for _, n := range []int{0, 1, 1000} {
		run(t, np, func(m member) error {
			src, dst := fabric.Addr(data), fabric.Addr(data+8*1024)
			for root := range np {
				for i := range n {
					m.mem[int(src)+i] = byte(i*7 + m.Me() + root)
				}
				if err := collectives.Broadcast(m.Group, dst, src, 1, n, root); err != nil {
					return err
				}
				for i := range n {
					if got, want := m.mem[int(dst)+i], byte(i*7+2*root); got != want {
						return fmt.Errorf("byte %d from root %d: got %d, want %d", i, root, got, want)
					}
				}
			}
			return nil
		}, allNil)
	}
}

func TestFCollectAndAllToAll_BlocksInOrder(t *testing.T) {
	const np = 4
	for _, n := range []int{0, 1, 100} {
		run(t, np, func(m member) error {
			src, dst, dst2 := fabric.Addr(data), fabric.Addr(data+4096), fabric.Addr(data+8192)
			value := func(from, to, i int) byte { return byte(100*from + 10*to + i) }
			for to := range np {
				for i := range n {
					m.mem[int(src)+to*n+i] = value(m.Me(), to, i)
				}
			}
			if err := collectives.FCollect(m.Group, dst, src, 1, n); err != nil {
				return err
			}
			if err := collectives.AllToAll(m.Group, dst2, src, 1, n); err != nil {
				return err
			}
			for from := range np {
				for i := range n {
					if got, want := m.mem[int(dst)+from*n+i], value(from, 0, i); got != want {
						return fmt.Errorf("FCollect of %d: block %d, byte %d: got %d, want %d", n, from, i, got, want)
					}
					if got, want := m.mem[int(dst2)+from*n+i], value(from, m.Me(), i); got != want {
						return fmt.Errorf("AllToAll of %d: block %d, byte %d: got %d, want %d", n, from, i, got, want)
					}
				}
			}
			return nil
		}, allNil)
	}
}

func TestSync_MismatchNamesBothCallsOnEveryPE(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		for _, odd := range []int{0, n / 2, n - 1} {
			run(t, n, func(m member) error {
				if err := m.Sync(collectives.Call{Kind: collectives.KindBarrierAll}); err != nil {
					return err
				}
				c := collectives.Call{Kind: collectives.KindAlloc, Elem: 8, N: 64, Arg: 8}
				if m.Me() == odd {
					c.N = 4096
				}
				return m.Sync(c)
			}, func(t *testing.T, errs []error) {
				t.Helper()
				for i, err := range errs {
					var mismatch *collectives.MismatchError
					if !errors.As(err, &mismatch) {
						t.Errorf("PE %d of %d got %v, want a mismatch", i, n, err)
						continue
					}
					for _, want := range []string{"Alloc of 64 elements", "Alloc of 4096 elements", fmt.Sprintf("site of PE %d", i), fmt.Sprintf("PE %d", odd)} {
						if !strings.Contains(err.Error(), want) {
							t.Errorf("PE %d of %d, with PE %d at odds: %q does not say %q", i, n, odd, err, want)
						}
					}
				}
			})
		}
	}
}
