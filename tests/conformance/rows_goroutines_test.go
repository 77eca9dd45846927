// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"fmt"
	"sync/atomic"

	"github.com/goshmem/goshmem/shmem"
)

func goroutineRows() []row {
	return []row{
		{
			sec: "9.2.1", name: "init_thread: goroutines that do different things at once get exact results", heap: 1 << 20,
			faults: []fault{lostPuts, lostGets, everyOtherAtomicLost, lostSignals},
			run:    func(pe *shmem.PE) error { return mixture(pe, 2) },
		},
		{
			sec: "9.12.2", name: "quiet: returns while other goroutines go on", np: 2,
			faults: []fault{quietIgnored, lostPuts},
			run:    func(pe *shmem.PE) error { return amidBusy(pe, pe.Quiet) },
		},
		{
			sec: "9.12.3", name: "pe_quiet: returns while other goroutines go on", np: 2,
			faults: []fault{quietIgnored, lostPuts},
			run: func(pe *shmem.PE) error {
				return amidBusy(pe, func() { pe.QuietPEs([]int{right(pe)}) })
			},
		},
	}
}

// amidBusy: what a goroutine has put is there after its quiet, which returns although another
// one posts without an end.
func amidBusy(pe *shmem.PE, quiet func()) error {
	const rounds, n = 10, 300
	x, sum := alloc[int64](pe, n), alloc[uint64](pe, 1)
	var done atomic.Bool
	err := together(2, func(i int) error {
		if i == 1 {
			for !done.Load() {
				for range 8 {
					shmem.AtomicInc(sum, right(pe))
				}
				shmem.AtomicFetch(sum, right(pe)) // so that what is under way does not pile up
			}
			return nil
		}
		defer done.Store(true)
		src, got := make([]int64, n), make([]int64, n)
		probe, err := pe.NewContext()
		if err != nil {
			return err
		}
		defer probe.Close()
		for round := range int64(rounds) {
			copy(src, count(1000*round, n))
			shmem.PutNBI(x, src, right(pe))
			quiet()
			shmem.Get(got, x.On(probe), right(pe))
			if err := equal("got after quiet", got, src); err != nil {
				return err
			}
		}
		return nil
	})
	pe.BarrierAll()
	return err
}

// A mix is what the goroutines of a PE work on. Those with the same number on all PEs go
// through the same rounds.
type mix struct {
	pe *shmem.PE

	data    shmem.Sym[int32]      // mixPart for each goroutine, of the left neighbour's
	inbox   shmem.Sym[int64]      // likewise, by signals
	signal  shmem.Sym[uint64]     // of each goroutine's inbox
	free    shmem.Sym[uint64]     // the right neighbour has read so many messages of each
	words   shmem.Sym[uint32]     // mixWords for each goroutine, which the left neighbour's sets
	sum     shmem.Sym[uint64]     // on PE 0, of everybody
	bits    shmem.Sym[uint32]     // likewise: each goroutine of a PE changes a bit of its own PE's word
	lock    shmem.Sym[shmem.Lock] // of locked
	locked  shmem.Sym[int64]      // on PE 0
	turn    chan struct{}         // holds something while one of the PE's goroutines has the lock
	batched shmem.Sym[uint64]     // a counter for each goroutine, of the left neighbour's
}

const (
	mixGoroutines = 6
	mixPart       = 40
	mixWords      = 5
)

// mixture runs goroutines that do everything there is at once, each several times and in another
// order, on words of their own and on those of all.
func mixture(pe *shmem.PE, rounds int) error {
	m := &mix{
		pe: pe, data: alloc[int32](pe, mixGoroutines*mixPart), inbox: alloc[int64](pe, mixGoroutines*mixPart),
		signal: alloc[uint64](pe, mixGoroutines), free: alloc[uint64](pe, mixGoroutines),
		words: alloc[uint32](pe, mixGoroutines*mixWords), sum: alloc[uint64](pe, 1), bits: alloc[uint32](pe, 1),
		lock: alloc[shmem.Lock](pe, 1), locked: alloc[int64](pe, 1), turn: make(chan struct{}, 1),
		batched: alloc[uint64](pe, mixGoroutines),
	}
	doings := []func(g, round int) error{
		m.puts, m.gets, m.atomics, m.signals, m.wait, m.critical, m.context, m.session, m.futures,
	}
	err := together(mixGoroutines, func(g int) error {
		for round := range rounds {
			for i := range doings {
				if err := doings[(i+g+round)%len(doings)](g, round); err != nil {
					return fmt.Errorf("goroutine %d, round %d: %w", g, round, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	pe.BarrierAll()
	all := pe.NPEs() * mixGoroutines * rounds
	err = first(
		equal("sum", shmem.GetValue(m.sum, 0), uint64(7*all)),
		equal("bits", m.bits.Local()[0], uint32(rounds%2*(1<<mixGoroutines-1))),
		equal("counted under the lock", shmem.GetValue(m.locked, 0), int64(all)),
		equal("counted in batches", m.batched.Local(), constant(uint64(mixBatch*rounds), mixGoroutines)),
	)
	pe.BarrierAll()
	return err
}

func constant[T any](v T, n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// part is goroutine g's of an object.
func part[T any](x shmem.Sym[T], g int) shmem.Sym[T] {
	n := x.Len() / mixGoroutines
	return x.Slice(g*n, (g+1)*n)
}

// message differs from goroutine to goroutine, and from round to round.
func message(g, round int) int32 { return int32(10000*round + 100*g) }

func (m *mix) puts(g, round int) error {
	want := count(message(g, round), mixPart)
	x := part(m.data, g)
	shmem.Put(x.Slice(0, 10), want[:10], right(m.pe))
	shmem.PutNBI(x.Slice(10, 30), want[10:30], right(m.pe))
	for i := 30; i < mixPart; i++ {
		shmem.PutValue(x.At(i), want[i], right(m.pe))
	}
	m.pe.Quiet()
	got := make([]int32, mixPart)
	shmem.Get(got, x, right(m.pe))
	return equal("got back what was put", got, want)
}

func (m *mix) gets(g, round int) error {
	want := count(message(g, round)+1, mixPart)
	x := part(m.data, g)
	shmem.PutStrided(x, want, 1, 1, mixPart, right(m.pe))
	m.pe.QuietPEs([]int{right(m.pe)})
	got := make([]int32, mixPart)
	shmem.GetNBI(got[:20], x.Slice(0, 20), right(m.pe))
	shmem.GetStrided(got[20:], x.Slice(20, mixPart), 1, 1, mixPart-20, right(m.pe))
	m.pe.Quiet()
	return equal("got", got, want)
}

func (m *mix) atomics(g, _ int) error {
	var old uint64
	shmem.AtomicInc(m.sum, 0)
	shmem.AtomicFetchAddNBI(&old, m.sum, 2, 0)
	shmem.AtomicFetchAdd(m.sum, 3, 0)
	bit := uint32(1) << g
	before := shmem.AtomicFetchXor(m.bits, bit, m.pe.MyPE())
	after := shmem.AtomicFetch(m.bits, m.pe.MyPE())
	m.pe.Quiet()
	return equal("own bit, changed", after&bit, ^before&bit)
}

// signals sends a message to the right and takes the left neighbour's.
func (m *mix) signals(g, round int) error {
	box, sig, free := part(m.inbox, g), m.signal.At(g), m.free.At(g)
	shmem.WaitUntil(free, shmem.CmpGE, uint64(round))
	want := count(int64(message(g, round)), mixPart)
	shmem.PutSignal(box, want, sig, 1, shmem.SigAdd, right(m.pe))
	shmem.SignalWaitUntil(sig, shmem.CmpGE, uint64(round+1))
	err := equal("message at its signal", box.Local(), want)
	shmem.AtomicInc(free, left(m.pe))
	return err
}

// wait sets the words of the right neighbour one by one and finds its own set.
func (m *mix) wait(g, round int) error {
	x := part(m.words, g)
	for i := range mixWords {
		shmem.AtomicInc(x.At((i+g)%mixWords), right(m.pe))
	}
	found := make([]int, mixWords)
	for range mixWords {
		found[shmem.WaitUntilAny(x, found, shmem.CmpGE, uint32(round+1))] = 1
	}
	shmem.WaitUntilAll(x, nil, shmem.CmpGE, uint32(round+1))
	return equal("words found", found, constant(1, mixWords))
}

// critical counts by a get and a put.
func (m *mix) critical(int, int) error {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	shmem.SetLock(m.lock)
	shmem.PutValue(m.locked, shmem.GetValue(m.locked, 0)+1, 0)
	shmem.ClearLock(m.lock)
	return nil
}

func (m *mix) context(g, round int) error {
	ctx, err := m.pe.NewContext()
	if err != nil {
		return err
	}
	defer ctx.Close()
	x := part(m.data, g).On(ctx)
	want := count(message(g, round)+2, mixPart)
	shmem.PutNBI(x, want, right(m.pe))
	ctx.Fence()
	ctx.Quiet()
	got := make([]int32, mixPart)
	shmem.Get(got, x, right(m.pe))
	return equal("got on a context", got, want)
}

const mixBatch = 20 // operations of a session

// session counts in a batch of its own, and in one of all goroutines.
func (m *mix) session(g, _ int) error {
	ctx, err := m.pe.NewContext(shmem.Serialized)
	if err != nil {
		return err
	}
	for i, c := range []*shmem.Context{ctx, m.pe.Context()} {
		c.StartSession(shmem.SessionConfig{Batch: true, TotalOps: mixBatch})
		for range mixBatch / 2 {
			shmem.AtomicInc(m.batched.At(g).On(c), right(m.pe))
		}
		if i == 0 {
			c.StopSession()
			c.Close()
		} else {
			c.Quiet()
			c.StopSession()
		}
	}
	return nil
}

func (m *mix) futures(g, round int) error {
	x := part(m.data, g)
	want := count(message(g, round)+3, mixPart)
	var old uint64
	sum := shmem.AtomicFetchAddAsync(&old, m.sum, 1, 0)
	shmem.PutAsync(x, want, right(m.pe)).Wait()
	got := make([]int32, mixPart)
	shmem.GetAsync(got, x, right(m.pe)).Wait()
	sum.Wait()
	return equal("got by a future", got, want)
}
