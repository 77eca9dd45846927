// SPDX-License-Identifier: BSD-3-Clause

package loop_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/race"
)

// spmd runs program as every PE of a new world and waits for all of them.
func spmd(t *testing.T, n int, o loop.Options, program func(me int, d fabric.Domain, ep *fabric.Extended) error) {
	t.Helper()
	var pes sync.WaitGroup
	for me, d := range open(t, n, o) {
		pes.Go(func() {
			ep, err := d.Endpoint()
			if err == nil {
				err = program(me, d, fabric.Extend(ep))
			}
			if err == nil {
				err = ep.Close()
			}
			if err != nil {
				d.Abort(err)
				t.Errorf("PE %d: %v", me, err)
			}
		})
	}
	pes.Wait()
}

// chatter is a program whose outcome hangs on when each message arrives: four
// PEs put over each other's words without any order, and log what they find. To
// the race detector that is a mistake, as long as the words are not atomic.
func chatter(t *testing.T, o loop.Options) string {
	t.Helper()
	const n, rounds, words, signal, told = 4, 30, 16, 1024, 1032
	kinds := 6
	if race.Enabled {
		kinds = 4
	}
	began := time.Now()
	logs := make([]strings.Builder, n)
	spmd(t, n, o, func(me int, d fabric.Domain, ep *fabric.Extended) error {
		r := rand.New(rand.NewPCG(7, uint64(me)))
		for round := range rounds {
			if err := ep.Batch(me%2 == 1 && round%3 > 0); err != nil {
				return err
			}
			for range 6 {
				target, off := r.IntN(n), 8*fabric.Addr(r.IntN(words))
				v := r.Uint64() % 1000
				var err error
				switch r.IntN(kinds) {
				case 0:
					err = ep.PutWord(target, off, 8, v)
				case 1:
					err = ep.Atomic(target, fabric.OpSum, fabric.Uint64, off, v)
				case 2:
					err = ep.Fence()
				case 3:
					var old uint64
					old, err = ep.FetchAtomic(target, fabric.OpBxor, fabric.Uint64, off, v, 0)
					fmt.Fprintf(&logs[me], "%v %d: word %d of PE %d was %#x\n", time.Since(began), round, off/8, target, old)
				case 4:
					b := make([]byte, 40)
					b[3] = byte(v)
					err = ep.Put(target, off, b)
				case 5:
					err = ep.PutSignal(target, off, []byte{byte(v)}, signal, fabric.OpSum, 1)
				}
				if err != nil {
					return err
				}
			}
			// Tell the next PE, which waits.
			if err := ep.Atomic((me+1)%n, fabric.OpSum, fabric.Uint64, told, 1); err != nil {
				return err
			}
			if err := d.Wait(fabric.Cond{PE: me, Off: told, Type: fabric.Uint64, Cmp: fabric.CmpGE, Value: uint64(round + 1)}); err != nil {
				return err
			}
			fmt.Fprintf(&logs[me], "%v %d: told\n", time.Since(began), round)
			if round%5 == 4 {
				if err := ep.Quiet(); err != nil {
					return err
				}
				target := r.IntN(n)
				for i := range fabric.Addr(words) {
					got, err := ep.FetchAtomic(target, fabric.OpRead, fabric.Uint64, 8*i, 0, 0)
					if err != nil {
						return err
					}
					fmt.Fprintf(&logs[me], "%v %d: %x\n", time.Since(began), round, got)
				}
			}
		}
		return nil
	})
	var all strings.Builder
	for me := range logs {
		fmt.Fprintf(&all, "PE %d\n%s", me, logs[me].String())
	}
	return all.String()
}

func TestSeed_ReproducesARunExactly(t *testing.T) {
	outcomes := make(map[string]uint64)
	for seed := range uint64(4) {
		o := loop.Options{SegmentSize: 4096, Seed: seed, MaxDelay: 50 * time.Microsecond, TearSize: 16}
		var first string
		for run := range 6 {
			var got string
			synctest.Test(t, func(t *testing.T) { got = chatter(t, o) })
			if run == 0 {
				first = got
			} else if got != first {
				t.Fatalf("seed %d: run %d differs from the first:\n%s", seed, run, firstDifference(first, got))
			}
		}
		if other, same := outcomes[first]; same {
			t.Errorf("seeds %d and %d give the same run", other, seed)
		}
		outcomes[first] = seed
	}
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d: %s\nand:    %s", i, as[i], bs[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(as), len(bs))
}

// unfenced puts a message and a flag and returns what the consumer found.
func unfenced(t *testing.T, o loop.Options, fence bool) (found byte) {
	t.Helper()
	spmd(t, 2, o, func(me int, d fabric.Domain, ep *fabric.Extended) error {
		if me == 1 {
			err := d.Wait(fabric.Cond{PE: 1, Type: fabric.Uint64, Cmp: fabric.CmpNE})
			if err != nil {
				return err
			}
			old, err := ep.FetchAtomic(1, fabric.OpRead, fabric.Uint8, 64, 0, 0)
			found = byte(old)
			return err
		}
		if err := ep.PutWord(1, 64, 1, 42); err != nil {
			return err
		}
		if fence {
			if err := ep.Fence(); err != nil {
				return err
			}
		}
		return ep.PutWord(1, 0, 8, 1)
	})
	return found
}

func TestSeed_AMissingFenceShowsInSomeAndAlwaysTheSame(t *testing.T) {
	var shown [3]string
	for run := range shown {
		for seed := range uint64(20) {
			o := loop.Options{SegmentSize: 4096, Seed: seed, MaxDelay: time.Millisecond}
			synctest.Test(t, func(t *testing.T) {
				if unfenced(t, o, false) != 42 {
					shown[run] += fmt.Sprintf("%d ", seed)
				}
				if found := unfenced(t, o, true); found != 42 {
					t.Errorf("seed %d: found %d behind a fence, want 42", seed, found)
				}
			})
		}
	}
	if n := len(strings.Fields(shown[0])); n < 3 || n > 17 {
		t.Errorf("a missing fence shows in %d of 20 seeds: %s", n, shown[0])
	}
	if shown[1] != shown[0] || shown[2] != shown[0] {
		t.Errorf("a missing fence shows in different seeds: %q", shown)
	}
}

// A bubble's clock stands still while anything can run: if a wait polled or held
// a lock, synctest.Wait would not return.
func TestWait_BlocksDurably(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		domains := open(t, 2, loop.Options{SegmentSize: 4096})
		ended := make(chan error, 1)
		go func() {
			ended <- domains[1].Wait(fabric.Cond{PE: 1, Type: fabric.Int32, Cmp: fabric.CmpEQ, Value: 1})
		}()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("the wait ended: %v", err)
		default:
		}
		ep, err := domains[0].Endpoint()
		if err != nil {
			t.Fatal(err)
		}
		if err := ep.PutWord(1, 0, 4, 1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatal("the wait did not end")
		}
	})
}

func TestDelays_PassInVirtualTime(t *testing.T) {
	const n, rounds = 64, 50
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		spmd(t, n, loop.Options{SegmentSize: 4096, Seed: 1, MaxDelay: time.Second}, func(me int, d fabric.Domain, ep *fabric.Extended) error {
			for i := range uint64(rounds) {
				if err := ep.PutWord((me+1)%n, 0, 8, i+1); err != nil {
					return err
				}
				if err := d.Wait(fabric.Cond{PE: me, Type: fabric.Uint64, Cmp: fabric.CmpGE, Value: i + 1}); err != nil {
					return err
				}
			}
			return nil
		})
		if passed := time.Since(began); passed < rounds*time.Second/4 || passed > rounds*time.Second+time.Millisecond {
			t.Errorf("%d rounds of puts with up to a second of delay took %v of virtual time", rounds, passed)
		}
	})
}

// A thousand PEs are a unit test: dissemination barriers of ten rounds.
func TestScale_BarriersOfAThousandPEs(t *testing.T) {
	const n, logN, barriers = 1000, 10, 3
	synctest.Test(t, func(t *testing.T) {
		spmd(t, n, loop.Options{SegmentSize: 64 * logN, MaxDelay: time.Millisecond}, func(me int, d fabric.Domain, ep *fabric.Extended) error {
			for b := range uint64(barriers) {
				for round := range logN {
					off := fabric.Addr(8 * round)
					if err := ep.Atomic((me+1<<round)%n, fabric.OpSum, fabric.Uint64, off, 1); err != nil {
						return err
					}
					if err := d.Wait(fabric.Cond{PE: me, Off: off, Type: fabric.Uint64, Cmp: fabric.CmpGE, Value: b + 1}); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}
