// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/cgo"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// A Domain is one PE's access to the fabric.
type Domain struct {
	// Set by Open; read-only afterwards.
	job                                    fabric.Job
	o                                      Options
	lab                                    lab
	verdict                                verdict
	provider                               string
	auto                                   bool // the provider works by itself, and tells nobody
	allocated                              bool // registered memory keeps its pages
	givesKeys                              bool
	readBack                               bool
	messages                               bool          // the provider has them
	keySize                                int           // bytes
	inject                                 int           // bytes
	separate                               int           // libfabric endpoints, at most
	maxMessage                             uint64        // bytes
	spin                                   time.Duration // that a call polls
	slices                                 int           // such calls until a wait sleeps
	flood                                  uint32        // operations in flight from which on small puts are collected
	single                                 bool          // Go runs one goroutine at a time
	shim                                   shim
	native                                 forms
	sleepers, doorbell, handback, standing *atomic.Uint32
	self                                   cgo.Handle // keeps the domain and what it pins alive until Close: the shim's thread writes to it

	// Set by Register and Connect; read-only afterwards.
	segment []byte
	pin     runtime.Pinner // of the segment, if it is Go memory
	own     blob
	peers   peers

	stopWatch, watched chan struct{} // nil: there is no watch
	asked              atomic.Uint64 // atomics by which the PE asked itself

	door    door // of Poll
	waits   waits
	copies  copies
	turns   turns // of who waits
	other   atomic.Pointer[waker]
	tokens  race.Tokens
	flusher func() error // starts the flusher, once

	mu        sync.Mutex // for what follows
	cause     error      // of the job's end
	opened    int        // endpoints so far
	endpoints map[*Endpoint]bool
	lost      []*parked // waits whose operations may still write to what they pin
	closed    bool
	telling   sync.WaitGroup // goroutines that tell others of the job's end
}

// Provider returns the name of libfabric's provider: "tcp;ofi_rxm".
func (d *Domain) Provider() string { return d.provider }

// Address returns a text of the own endpoint's address.
func (d *Domain) Address() string { return d.shim.address(d.own.name) }

// Allocated reports whether the segment's pages must stay as they are while it is
// registered: the provider has their addresses, so giving some back would part
// what the network sees from what the program sees. Such a segment is populated
// as a whole by Register.
func (d *Domain) Allocated() bool { return d.allocated }

// Stats returns what the provider was asked to do so far.
func (d *Domain) Stats() Stats {
	asked := d.asked.Load() // by this package alone; before what it is part of
	s := d.shim.stats()
	s.Atomics -= asked
	return s
}

// Caps implements [fabric.Domain].
func (d *Domain) Caps() fabric.Caps {
	return fabric.Caps{
		Native:       d.native.table(),
		CPUAtomics:   d.verdict.cpuAtomics,
		InjectSize:   bounceSize,
		AutoProgress: true, // by the domain's thread
	}
}

// Map implements [fabric.Domain]. Only the own segment is near, once it is registered.
func (d *Domain) Map(pe int) []byte {
	if pe != d.job.PE {
		return nil
	}
	return d.segment
}

// Register implements [fabric.Domain]. It starts the domain's thread. The segment
// is any memory that stays until the process ends; Go memory is pinned.
func (d *Domain) Register(segment []byte) ([]byte, error) {
	if d.segment != nil {
		return nil, errors.New("fabric/ofi: register: a segment is registered already")
	}
	if len(segment) == 0 || !aligned(segment) || d.job.SegmentSize != 0 && d.job.SegmentSize != uintptr(len(segment)) {
		return nil, fmt.Errorf("fabric/ofi: register %d bytes: a segment has %d, aligned to 8", len(segment), d.job.SegmentSize)
	}
	if d.allocated {
		if err := populate(segment); err != nil {
			return nil, fmt.Errorf("fabric/ofi: register %d bytes: %w", len(segment), err)
		}
	}
	d.pin.Pin(&segment[0])
	key := d.o.Key & keyMask(d.keySize)
	if key == 0 {
		key = randomKey(d.keySize)
	}
	controlKey := randomKey(d.keySize)
	for controlKey == key {
		controlKey = randomKey(d.keySize)
	}
	if d.givesKeys {
		key, controlKey = 0, 0
	}
	mem, control, err := d.shim.register(segment, key, controlKey)
	if err != nil {
		return nil, fmt.Errorf("fabric/ofi: register %d bytes with provider %s: %w%s", len(segment), d.provider, err, lockedRemedy(err, len(segment)))
	}
	name, err := d.shim.name()
	if err != nil {
		return nil, fmt.Errorf("fabric/ofi: name of the endpoint: %w", err)
	}
	d.segment = segment
	d.own = blob{version: libraryVersion(), provider: d.provider, name: name, segment: mem, control: control}
	if d.messages {
		d.own.token = randomKey(8)
		if err := d.shim.openMail(segment, d.verdict.cpuAtomics, d.own.token, name); err != nil {
			return nil, fmt.Errorf("fabric/ofi: post buffers for messages: %w", err)
		}
	}
	if err := d.startThread(d.shim.start); err != nil {
		return nil, fmt.Errorf("fabric/ofi: start the progress thread: %w", err)
	}
	b, err := d.own.encode()
	if err != nil {
		return nil, fmt.Errorf("fabric/ofi: register: %w", err)
	}
	return b, nil
}

// lockedRemedy explains a refusal to register memory by the limit of locked memory.
func lockedRemedy(err error, size int) string {
	var l unix.Rlimit
	if !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EAGAIN) {
		return ""
	}
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l) != nil || l.Cur >= uint64(size) {
		return ""
	}
	return fmt.Sprintf(": this process may lock %d KiB, the segment has %d KiB: raise the limit (ulimit -l, or memlock in limits.conf), or make the heap smaller", l.Cur>>10, size>>10)
}

// Connect implements [fabric.Domain]. Connections are made when PEs are first
// talked to.
func (d *Domain) Connect(blobs fabric.Table) error {
	if d.segment == nil {
		return errors.New("fabric/ofi: connect: no segment is registered")
	}
	if err := d.peers.connect(blobs, d.job.NPEs, d.own); err != nil {
		return err
	}
	return d.startWatch()
}

// Endpoint implements [fabric.Domain]. Where the provider's queues are short, the first few
// have libfabric endpoints of their own, so that what one waits for does not use up another's
// room; others share these. Each costs every poll a system call, and every PE that is
// talked to a connection.
func (d *Domain) Endpoint() (fabric.Endpoint, error) {
	if err := d.ended(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("fabric/ofi: the domain is closed")
	}
	i := d.opened % d.separate
	if i > 0 && d.opened < d.separate {
		var err error
		if i, err = d.shim.endpoint(); err != nil {
			return nil, fmt.Errorf("fabric/ofi: open endpoint %d: %w", d.opened, err)
		}
	}
	s, err := d.shim.stream(i, false)
	if err != nil {
		return nil, fmt.Errorf("fabric/ofi: open endpoint %d: %w", d.opened, err)
	}
	d.opened++
	e := newEndpoint(d, s)
	if d.endpoints == nil {
		d.endpoints = map[*Endpoint]bool{}
	}
	d.endpoints[e] = true
	return e, nil
}

// Ended returns why the job is ending: Abort's cause, the PE that called it, or that
// the provider is broken; nil if it is not ending. Waits of another fabric look at it when they are rung.
func (d *Domain) Ended() error { return d.ended() }

func (d *Domain) ended() error {
	if d.shim.aborted().Load() == 0 && d.shim.control().Load() == 0 && d.shim.broken().Load() == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cause != nil {
		return d.cause
	}
	if pe := d.shim.control().Load(); pe != 0 {
		return fmt.Errorf("%w: PE %d ended it", errAborted, pe-1)
	}
	if code := d.shim.broken().Load(); code != 0 {
		if pe := d.shim.malformed().Load(); pe != 0 {
			return fmt.Errorf("fabric/ofi: PE %d sent a batch that makes no sense", pe-1)
		}
		return fmt.Errorf("fabric/ofi: the completion queue cannot be read: %w", errorOf(-int64(code)))
	}
	return errAborted
}

// tellTime bounds how long Abort goes on telling the other PEs.
const tellTime = time.Second

// Abort implements [fabric.Domain]. It tells the other PEs by a word of their
// control pages, as far as they can be reached within a second; the launcher
// tells them all.
func (d *Domain) Abort(err error) {
	d.mu.Lock()
	first := d.cause == nil
	if first {
		d.cause = err
	}
	told := first && !d.closed && d.peers.chunks != nil && d.shim.control().Load() == 0
	if told {
		d.telling.Add(1)
	}
	d.mu.Unlock()
	d.shim.aborted().Store(1)
	d.doorbell.Add(1)
	futexWake(d.doorbell)
	if told {
		go func() {
			defer d.telling.Done()
			d.tell()
		}()
	}
}

// tell writes to the other PEs' control pages.
func (d *Domain) tell() {
	s, err := d.shim.stream(0, true)
	if err != nil {
		return // who cannot be told finds out from the launcher
	}
	var left []target
	for i := 1; i < d.job.NPEs; i++ {
		pe := (d.job.PE + i) % d.job.NPEs
		if p, err := d.peers.add(pe, d.shim.insert); err == nil {
			left = append(left, p.control.target(p.addr, pe, 0))
		}
	}
	for begin := time.Now(); time.Since(begin) < tellTime; time.Sleep(time.Millisecond) {
		// Those that there is no room for now, maybe because they can't be reached, come again.
		left = slices.DeleteFunc(left, func(t target) bool {
			return s.atomic(t, fiOps[fabric.OpWrite], int(fabric.Uint64), uint64(1+d.job.PE)).status != again
		})
		if s.inflight().Load() != 0 {
			s.quiet(false)
		} else if len(left) == 0 {
			break
		}
	}
	if s.inflight().Load() == 0 {
		s.close() // otherwise it stays: completions may still come
	}
}

// Close implements [fabric.Domain]. If the job was aborted while operations were in
// flight, their memory stays pinned, and the domain as it is: they may still be
// carried out.
func (d *Domain) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	open := len(d.endpoints)
	if open > 0 && d.cause == nil {
		d.mu.Unlock()
		return fmt.Errorf("fabric/ofi: close: PE %d has %d open endpoints", d.job.PE, open)
	}
	d.closed = true
	d.mu.Unlock()
	d.endWatch()
	d.telling.Wait()
	if open > 0 {
		return nil
	}
	d.door.close()
	d.shim.close()
	runtime.AddCleanup(d, shim.free, d.shim) // until then its words can be read
	// Nothing writes to what was pinned any more.
	d.pin.Unpin()
	for _, p := range d.lost {
		p.pin.Unpin()
	}
	d.self.Delete()
	return nil
}
