// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"github.com/goshmem/goshmem/internal/frames"
	"github.com/goshmem/goshmem/internal/spin"
	"github.com/goshmem/goshmem/symheap"
)

// Where the words of a group lie, from its offset in each member's segment on.
// What others write is on lines of its own.
const (
	offCount   = 0                                    // on member 0: arrivals, and the sum of their calls' digests
	offEpoch   = 128                                  // on member 0: synchronisations completed
	offReport  = 384                                  // the epoch of offText, which holds what this member called, once it does
	offPair    = 400                                  // two words, for Pairs
	offEntered = 448                                  // the epoch that this member has entered last, and how many starts came before it; and on which core
	offFlags   = 512                                  // that something of a far member has arrived: a ring of words
	offText    = 640                                  // what this member called and where, for a mismatch's report
	offSlots   = 1664                                 // what this member shows the near ones: a ring of slots
	offRounds  = 2688                                 // what far members send: for each round a word for each parity, twice, 64 bytes apart
	offRelays  = offLeadRounds + leadRounds*roundSize // what is passed on in a broadcast: a ring of slots
	offCalls   = offRelays + 2*slotRing*relaySize     // the farWords of the last calls: a ring

	// Of offFlags, offRounds, offRelays and offCalls those of the leaders of nodes; see leaders.go.
	offLeadFlags  = offFlags + 8*slotRing
	offLeadRounds = offRounds + maxRounds*roundSize
	offLeadRelays = offRelays + slotRing*relaySize
	offLeadCalls  = offCalls + 8*slotRing

	textSize   = 1024
	roundSize  = 128
	relaySize  = 64
	maxRounds  = 30
	leadRounds = 18 // for 65,536 nodes

	// GroupSize is the size of a group's words in bytes.
	GroupSize = offCalls + 2*8*slotRing
)

// A slot holds the epoch that it is of, the digest of the member's call, and
// what the call carries, if that is small. A member that runs ahead must not
// overwrite a slot that others have yet to read; see next.
const (
	slotSize   = 128
	slotRing   = 8
	slotHeader = 16
	mostCarry  = slotSize - slotHeader // bytes
)

const (
	// poison in an epoch word says that the members called different collectives, from
	// the epoch below it on.
	poison = 1 << 63

	// farDigest is how many bits of a call's digest travel between far members,
	// below the epoch: enough to tell calls apart, and to leave room for a barrier
	// every microsecond for a hundred days.
	farDigest = 20
)

// A Group is one member's part in a group of PEs that synchronise and
// communicate together. One collective at a time: callers serialise.
type Group struct {
	// Set by New; read-only afterwards.
	w     *symheap.Window
	me, n int
	off   uintptr       // of the group's words, the same on every member
	site  func() string // where the program called the collective

	isFar, crowded bool
	cores          bool // members tell on which cores they are; see crowd.go

	// Where far members' words are, and how many rounds have some.
	flags, rounds, relays, calls uintptr
	slots                        int

	// The groups that this one is made of if its members share nodes, and this one in those; see leaders.go.
	node, lead, whole *Group
	first             []int // leaders, by node; nil but on leaders

	// Set by Choose.
	how    algorithm // of Sync
	limits [operations][mostLimits]limit

	// Owned by the caller of the current collective.
	epoch  uint64 // synchronisations entered
	chain  uint64 // hash of all calls
	total  uint64 // what offCount holds when this epoch is complete
	closed uint64 // the last epoch in which all met at offCount
	met    uint64 // epochs that nobody left before all had come
	metAt  uint64 // the last of these
	since  uint64 // the epoch after the last but one
	ahead  int    // collectives since one that nobody left before all had come
	past   [slotRing]Call
	left   [slotRing][frames.Depth]uintptr // where those were called that members leave before others have come

	started uint16                // see Start
	at      [frames.Depth]uintptr // see CalledAt

	scratch []byte           // two blocks of a reduction
	fetched []byte           // of another member's elements, for a large one
	words   [farWords]uint64 // of the message that is sent

	watch watch
}

// mostStar is how many members a star may have: all messages go to or come from one, who
// has a slot for each.
const mostStar = 16

// New returns the group of all PEs of w, a window of the world or of a team; every
// number of a PE in this package is the group's own, but in a [MismatchError]. off is where its GroupSize bytes lie
// in every member's segment, zero before first use. crowded and asked, which is as for Choose, are the same on every
// member. nodes are the world's PEs that are the first of their nodes, in ascending order, if the PEs of each reach each
// other by loads and stores, and nil if they do not. site returns the place in the user's program that called the
// collective, for reports.
func New(w *symheap.Window, off uintptr, crowded bool, asked Choices, nodes []int, site func() string) *Group {
	g := &Group{w: w, me: w.Me(), n: w.NPEs(), off: off, isFar: !w.AllNear(), crowded: crowded, site: site}
	g.cores = crowded && !g.isFar && w.Spin() > 0 && spin.Core() != 0
	g.flags, g.rounds, g.slots = off+offFlags, off+offRounds, maxRounds
	g.relays, g.calls = off+offRelays, off+offCalls
	if g.isFar {
		g.divide(nodes)
	}
	g.Choose(asked)
	return g
}

// world returns the world's number of member q, which the endpoint takes.
func (g *Group) world(q int) int { return g.w.World(q) }

// NPEs returns the number of members.
func (g *Group) NPEs() int { return g.n }

// Me returns the caller's number in the group.
func (g *Group) Me() int { return g.me }

// Window returns the group's window.
func (g *Group) Window() *symheap.Window { return g.w }

// Quiet completes every operation on the group's window and orders all direct
// stores.
func (g *Group) Quiet() error {
	if g.far() {
		return g.w.Endpoint().Quiet()
	}
	g.w.Fence()
	return nil
}

// Sync returns once every member has called it with an equal call. Direct
// stores before it are visible to all after it; operations on an endpoint are
// not completed. If the calls differ, every member gets a *[MismatchError].
func (g *Group) Sync(c Call) error { return g.carry(c, nil) }

// carry is Sync, and shows payload, of at most mostCarry bytes, to the near members;
// see carried. Only near groups have any.
func (g *Group) carry(c Call, payload []byte) error {
	g.meet(c)
	switch g.how {
	case flat:
		return g.syncFlat(c, payload)
	case central:
		return g.syncCentral(c, payload)
	case star:
		return g.syncStar(c)
	case leaders:
		return g.syncLeaders(c)
	default:
		return g.syncDissemination(c)
	}
}

// next begins an epoch.
func (g *Group) next(c Call) {
	g.epoch++
	c.Started = g.started
	if g.whole == nil {
		g.enterCore()
		storeRelease(g.w.Own(g.off+offEntered), g.epoch<<startedBits|uint64(g.started))
	}
	g.chain = (g.chain+c.sign())*chainFactor + 1
	if g.isFar {
		storeRelease(g.w.Own(g.callWord(g.epoch)), g.farWord())
	}
	g.past[g.epoch%slotRing] = c
	g.left[g.epoch%slotRing][0] = 0
}

// meet begins an epoch that nobody leaves before all have come.
func (g *Group) meet(c Call) {
	g.next(c)
	g.ahead = 0
	g.met++
	g.since, g.metAt = g.metAt+1, g.epoch
}

// leave begins an epoch that members may leave before others have come. After a few of
// these in a row it waits for everyone first: a slot is used again after
// slotRing epochs.
func (g *Group) leave(c Call) error {
	if g.ahead == slotRing-2 {
		if err := g.Sync(c); err != nil {
			return err
		}
	}
	g.ahead++
	g.next(c)
	if at := &g.left[g.epoch%slotRing]; g.at[0] != 0 {
		*at = g.at
	} else {
		frames.Record(at)
	}
	return nil
}

// digest returns the digest of this epoch's call and of all before, never 0: who calls
// something else where nobody waits for it is found out at the next synchronisation.
func (g *Group) digest() uint64 { return g.chain>>(64-digestBits) | 1 }

// Agree is Sync, and reports whether any member called it with failed.
func (g *Group) Agree(c Call, failed bool) (anyFailed bool, err error) {
	own := g.buffers()[:1]
	if own[0] = 0; failed {
		own[0] = 1
	}
	if err := g.Quiet(); err != nil {
		return true, err
	}
	err = g.combineAll(c, own, or[uint8])
	return err != nil || own[0] != 0, err
}
