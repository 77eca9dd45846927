// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"runtime/cgo"
	"sync"
	"time"

	"github.com/goshmem/goshmem/fabric"
)

// A Provider opens domains by one of libfabric's providers.
type Provider struct {
	o   Options
	lab lab
}

// lab holds what only tests change.
type lab struct {
	standby    time.Duration      // 0: standbyTime
	maxMessage uint64             // bytes, 0: the provider's limit
	native     fabric.AtomicTable // what may run natively, if limit is set
	limit      bool
	noMessages bool
	sleep      sleep         // what the thread sleeps on
	watch      time.Duration // 0: watchEvery
}

// What a domain's thread sleeps on.
type sleep int

const (
	sleepAsFits sleep = iota
	sleepOnDescriptor
	sleepOnSockets
)

// New returns a provider. Nothing is looked for until Probe or Open.
func New(o Options) *Provider { return &Provider{o: o} }

// Name implements [fabric.Provider]. Which of libfabric's providers it is, the
// domain knows.
func (p *Provider) Name() string { return cmp.Or(p.o.Provider, "ofi") }

// Probe implements [fabric.Provider].
func (p *Provider) Probe() error {
	o, _, err := p.choose()
	if err == nil {
		o.free()
	}
	return err
}

func (p *Provider) choose() (offer, verdict, error) {
	o, v, err := choose(p.o)
	if err != nil {
		return o, v, fmt.Errorf("fabric/ofi: %w", err)
	}
	return o, v, nil
}

// From this version on tcp polls by epoll whatever the completion queue has.
const pollsByEpoll = 1<<16 | 18

const (
	// How long an operation is polled for before it is waited for asleep; where PEs
	// share a core, or the provider's own thread needs it, less.
	spinTime = 200 * time.Microsecond
	autoTime = 20 * time.Microsecond

	// How often a wait polls, and yields to other processes, where PEs outnumber cores: a
	// barrier of 8 PEs on 2 cores took 3.7 ms with one poll before each sleep, 0.8 ms with these.
	crowdedSlices = 64

	// How long the thread leaves progress to calls that poll before it looks again,
	// at first; sixteen times as long if they go on. That is how late a PE that has polled and
	// then computes may be for the first that wants something of it. A look takes
	// 50 µs of the core here: at 0.8 ms in place of 3.2 an 8-byte get took 8 % longer.
	standbyTime = 200 * time.Microsecond

	// How many operations an endpoint has in flight when it begins to collect small puts:
	// enough that those posted keep both sides busy until what is collected comes.
	floodsAt = 64
)

// Open implements [fabric.Provider]. It opens an endpoint, and reaches nobody yet.
func (p *Provider) Open(job fabric.Job) (fabric.Domain, error) {
	if job.NPEs < 1 || job.PE < 0 || job.PE >= job.NPEs {
		return nil, fmt.Errorf("fabric/ofi: PE %d of %d", job.PE, job.NPEs)
	}
	o, v, err := p.choose()
	if err != nil {
		return nil, err
	}
	d := &Domain{
		job: job, o: p.o, lab: p.lab, verdict: v,
		provider: o.provider(), auto: o.auto(), allocated: o.allocated() || p.o.Allocated,
		givesKeys: o.givesKeys(), keySize: o.keySize(), inject: o.injectSize(),
		readBack: v.readBack || p.o.ReadBack,
		messages: o.messages() && o.injectSize() >= headSize && !p.lab.noMessages,
		separate: separateFor(o.txSize()),
		slices:   int(spinTime / crossing),
		single:   runtime.GOMAXPROCS(0) == 1,
	}
	d.turns.begin = time.Now()
	d.maxMessage = o.maxMessage()
	if p.lab.maxMessage != 0 {
		d.maxMessage = min(d.maxMessage, p.lab.maxMessage)
	}
	c := config{pauses: 64, yields: 16, spinners: max(2, runtime.NumCPU()), pe: job.PE, npes: job.NPEs, connect: cmp.Or(p.o.ConnectTimeout, defaultConnectTimeout), maxMessage: d.maxMessage, inOrder: v.inOrder}
	c.spin, c.standby = crossing, cmp.Or(p.lab.standby, standbyTime)
	c.sockets = p.onSockets(d.provider, job.NPEs)
	switch {
	case d.auto:
		d.slices, c.spin, c.pauses, c.yields = 1, autoTime, 0, 1
	case p.o.Crowded:
		// What is waited for comes when another process has run: two passes, and Go yields.
		d.slices, c.spin, c.pauses, c.yields, c.spinners = crowdedSlices, 0, 4, 1, 2
	}
	d.spin = c.spin
	s, step, err := openShim(o, c)
	if err != nil {
		return nil, fmt.Errorf("fabric/ofi: %s of provider %s: %w", step, d.provider, err)
	}
	d.shim = s
	d.sleepers, d.doorbell, d.handback, d.standing = s.sleepers(), s.doorbell(), s.handback(), s.standing()
	d.waits.init(d)
	d.flood = math.MaxUint32
	if v.software && d.messages {
		d.flood = uint32(cmp.Or(p.o.Flood, floodsAt))
	}
	d.flusher = sync.OnceValue(func() error { return d.startThread(d.shim.startFlusher) })
	d.findAtomics()
	d.self = cgo.NewHandle(d)
	return d, nil
}

// onSockets reports whether the thread of one of n PEs sleeps on the provider's sockets, so that the
// completion queue needs no descriptor: where that makes polling faster, and sleep is rare.
func (p *Provider) onSockets(provider string, n int) bool {
	if provider != "tcp;ofi_rxm" || p.lab.sleep == sleepOnDescriptor {
		return false
	}
	return p.lab.sleep == sleepOnSockets || libraryVersion() < pollsByEpoll && n <= fewPEs && !p.o.Crowded
}

// separateFor returns how many libfabric endpoints a domain opens at most, if each has room
// for so many operations: one if several streams that wait for a PE that does not
// answer leave room for others on one.
func separateFor(txSize int) int {
	return min(max(maxEndpoints*maxInflight/max(txSize, 1), 1), maxEndpoints)
}

// randomKey returns a key of as many bytes as the provider takes.
func randomKey(size int) uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) & keyMask(size)
}

// keyMask has the bits of a key of size bytes.
func keyMask(size int) uint64 {
	if size >= 8 {
		return ^uint64(0)
	}
	return 1<<(8*size) - 1
}
