// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/goshmem/goshmem/shmem"

// An updater is one PE's part in the updates of a table.
type updater struct {
	*table
	pe      *shmem.PE
	me      int
	updates uint64            // of all PEs
	words   shmem.Sym[uint64] // this PE's

	// What puts needs.
	buckets [][]uint64        // updates in hand, for each PE
	inbox   shmem.Sym[uint64] // updates from each PE, room for lookAhead of them
	arrived shmem.Sym[uint64] // signals, one for each PE: the round, and how many updates
	round   uint64
}

// newUpdater is collective.
func newUpdater(pe *shmem.PE, logWords uint) (*updater, error) {
	npes := pe.NPEs()
	u := &updater{
		table: newTable(logWords, npes), pe: pe, me: pe.MyPE(), updates: updatesPerWord << logWords,
		buckets: make([][]uint64, npes),
	}
	for p := range u.buckets {
		u.buckets[p] = make([]uint64, 0, lookAhead)
	}
	var err error
	if u.words, err = shmem.Alloc[uint64](pe, u.room()); err != nil {
		return nil, err
	}
	if u.inbox, err = shmem.Alloc[uint64](pe, lookAhead*npes); err != nil {
		return nil, err
	}
	u.arrived, err = shmem.Alloc[uint64](pe, npes)
	return u, err
}

func (u *updater) mine() []uint64 { return u.words.Local()[:u.owned(u.me)] }

func (u *updater) fill() { u.table.fill(u.mine(), u.me) }

func (u *updater) check() int { return u.table.check(u.mine(), u.me, u.updates) }

// share returns the part [first, end) of the updates that PE p makes.
func (u *updater) share(p int) (first, end uint64) {
	npes := uint64(u.npes())
	return u.updates * uint64(p) / npes, u.updates * uint64(p+1) / npes
}

// atomics makes one update after the other.
func (u *updater) atomics() {
	first, end := u.share(u.me)
	v := streamAt(first)
	for range end - first {
		v = step(v)
		owner, i := u.place(v)
		shmem.AtomicXor(u.words.At(i), v, owner)
	}
}

// batched is atomics, allowed to hold some back until there are more for the
// same PE.
func (u *updater) batched() {
	first, end := u.share(u.me)
	ctx := u.pe.Context()
	ctx.StartSession(shmem.SessionConfig{Batch: true, TotalOps: int(end - first)})
	defer ctx.StopSession()
	u.atomics()
}

// puts sends updates to the owners of the words, in rounds. The words are only
// their owner's to change, so that no update is atomic.
func (u *updater) puts() {
	first, end := u.share(u.me)
	most := (u.updates + uint64(u.npes()) - 1) / uint64(u.npes()) // of any PE: all go the same rounds
	v := streamAt(first)
	for range (most + lookAhead - 1) / lookAhead {
		n := min(lookAhead, end-first)
		first += n
		v = u.sort(v, n)
		u.round++
		u.send()
		u.receive()
		u.pe.SyncAll() // nobody overwrites an inbox that is still being read
	}
}

// sort puts the n updates after v in buckets, and returns the last one.
func (u *updater) sort(v, n uint64) uint64 {
	for p := range u.buckets {
		u.buckets[p] = u.buckets[p][:0]
	}
	for range n {
		v = step(v)
		owner, _ := u.place(v)
		u.buckets[owner] = append(u.buckets[owner], v)
	}
	return v
}

// send puts each bucket in its owner's inbox. The signal, too, is this PE's own
// there; it says how many updates there are, and which round's they are.
func (u *updater) send() {
	for i := 1; i <= u.npes(); i++ {
		owner := (u.me + i) % u.npes() // all PEs start with different ones
		bucket := u.buckets[owner]
		shmem.PutSignal(u.inbox.Slice(u.me*lookAhead, (u.me+1)*lookAhead), bucket,
			u.arrived.At(u.me), u.round<<32|uint64(len(bucket)), shmem.SigSet, owner)
	}
}

// receive makes the updates that come from each PE.
func (u *updater) receive() {
	words, inbox := u.words.Local(), u.inbox.Local()
	for source := range u.npes() {
		n := uint32(shmem.SignalWaitUntil(u.arrived.At(source), shmem.CmpGE, u.round<<32))
		for _, v := range inbox[source*lookAhead:][:n] {
			_, i := u.place(v)
			words[i] ^= v
		}
	}
}
