// SPDX-License-Identifier: BSD-3-Clause

package loop

import (
	"errors"
	"fmt"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
)

// Options say how a world behaves. The zero value delivers at once, and no PE
// is near another.
type Options struct {
	// SegmentSize is the size of each PE's segment in bytes. 0: 1 MiB.
	SegmentSize uintptr

	// Seed chooses the delays.
	Seed uint64

	// MaxDelay is about the longest time from issuing an operation to its
	// delivery. 0 delivers at once, in no particular order.
	MaxDelay time.Duration

	// NodeSize makes PEs p with equal p/NodeSize near each other: operations
	// between them are carried out before they return, and their segments are
	// mapped. 0: every PE is far, also from itself.
	NodeSize int

	// FabricAtomics takes the processor's place in atomics between near PEs: they, and
	// signals, are delivered like those to far PEs, while data is stored directly. So it
	// is with a network whose atomics the processor's are not coherent with.
	FabricAtomics bool

	// TearSize cuts puts into pieces of at most this many bytes, which are
	// delivered one by one in any order. 0: puts are whole.
	TearSize int

	// Faults break the fabric's promises.
	Faults Faults
}

const defaultSegmentSize = 1 << 20

// A World holds the segments of a job's PEs. It is a [fabric.Provider] whose
// domains are opened once for each PE.
//
// In a testing/synctest bubble the World must be made inside the bubble.
type World struct {
	// Set by New; read-only afterwards.
	o        Options
	segments []*segment
	began    time.Time
	slots    chan struct{} // limits NIC goroutines, or nil
	aborted  chan struct{} // closed by the first Abort

	mu       race.Mutex
	opened   []bool        // by PE
	nics     int           // NIC goroutines
	idle     chan struct{} // closed when nics is 0, or nil if nobody waits for that
	cause    error         // why aborted; set before aborted is closed
	abortion race.Token
}

// maxNICs bounds the goroutines that the race detector has to follow: it gives
// up at 8,128.
const maxNICs = 4000

// New makes a world of n PEs.
func New(n int, o Options) (*World, error) {
	if o.SegmentSize == 0 {
		o.SegmentSize = defaultSegmentSize
	}
	if n < 1 || o.NodeSize < 0 || o.TearSize < 0 || o.MaxDelay < 0 {
		return nil, fmt.Errorf("fabric/loop: impossible world: %d PEs, %d a node, puts cut at %d bytes, delays up to %v", n, o.NodeSize, o.TearSize, o.MaxDelay)
	}
	w := &World{o: o, began: time.Now(), aborted: make(chan struct{}), opened: make([]bool, n)}
	if race.Enabled {
		w.slots = make(chan struct{}, maxNICs)
	}
	var g *group
	var mem [][]byte // of the node's PEs that follow
	for pe := range n {
		if first, end := w.node(pe); first == pe {
			g, mem = new(group), allocate(o.SegmentSize, end-first)
		}
		w.segments = append(w.segments, newSegment(mem[0], g))
		mem = mem[1:]
	}
	return w, nil
}

// Name implements [fabric.Provider].
func (w *World) Name() string { return "loop" }

// Probe implements [fabric.Provider].
func (w *World) Probe() error { return nil }

// Open implements [fabric.Provider]. A job.SegmentSize of 0 takes the world's.
func (w *World) Open(job fabric.Job) (fabric.Domain, error) {
	if job.NPEs != len(w.segments) || job.PE < 0 || job.PE >= job.NPEs {
		return nil, fmt.Errorf("fabric/loop: PE %d of %d opens a world of %d PEs", job.PE, job.NPEs, len(w.segments))
	}
	if job.SegmentSize != 0 && job.SegmentSize != w.o.SegmentSize {
		return nil, fmt.Errorf("fabric/loop: segments of %d bytes asked for, the world has %d", job.SegmentSize, w.o.SegmentSize)
	}
	if !w.claim(job.PE) {
		return nil, fmt.Errorf("fabric/loop: PE %d is open already", job.PE)
	}
	return &domain{w: w, me: job.PE, own: w.segments[job.PE]}, nil
}

//go:norace
func (w *World) claim(pe int) bool {
	w.mu.Lock()
	free := !w.opened[pe]
	w.opened[pe] = true
	w.mu.Unlock()
	return free
}

// node returns the PEs that are near pe, pe itself among them.
func (w *World) node(pe int) (first, end int) {
	if w.o.NodeSize == 0 {
		return pe, pe + 1
	}
	first = pe - pe%w.o.NodeSize
	return first, min(first+w.o.NodeSize, len(w.opened))
}

// near reports whether operations from PE a to PE b are carried out directly.
func (w *World) near(a, b int) bool {
	return w.o.NodeSize > 0 && a/w.o.NodeSize == b/w.o.NodeSize
}

// Abort ends every present and future wait and blocking operation of all PEs.
// Their errors wrap err. Operations that have not been delivered never are.
// Only the first Abort has an effect.
func (w *World) Abort(err error) {
	if err == nil {
		err = errors.New("no reason given")
	}
	err = fmt.Errorf("fabric/loop: aborted: %w", err)
	w.abortion.Release()
	w.abort(err)
}

//go:norace
func (w *World) abort(err error) {
	w.mu.Lock()
	race.Disable()
	if w.cause == nil {
		w.cause = err
		close(w.aborted)
	}
	race.Enable()
	w.mu.Unlock()
}

// Close waits until every operation is delivered or, after Abort, given up,
// once no PE issues any. A test that runs in a testing/synctest bubble and
// aborts a world with delays calls it at the end: time stands still when the
// bubble's first goroutine returns, and delays don't pass.
//
//go:norace
func (w *World) Close() {
	w.mu.Lock()
	race.Disable()
	if w.nics > 0 && w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	race.Enable()
	w.mu.Unlock()
	if idle != nil {
		race.Disable()
		<-idle
		race.Enable()
	}
}

// startNIC counts a NIC goroutine in, when there may be another one. It reports
// false if the world is aborted.
//
//go:norace
func (w *World) startNIC() bool {
	if w.slots != nil {
		race.Disable()
		select {
		case w.slots <- struct{}{}:
			race.Enable()
		case <-w.aborted:
			race.Enable()
			return false
		}
	}
	w.mu.Lock()
	w.nics++
	w.mu.Unlock()
	return true
}

// endNIC counts one out.
//
//go:norace
func (w *World) endNIC() {
	w.mu.Lock()
	race.Disable()
	if w.nics--; w.nics == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	if w.slots != nil {
		<-w.slots
	}
	race.Enable()
	w.mu.Unlock()
}

// ended returns why the world was aborted, or nil.
//
//go:norace
func (w *World) ended() error {
	race.Disable()
	select {
	case <-w.aborted:
		race.Enable()
		w.abortion.Acquire()
		return w.cause
	default:
		race.Enable()
		return nil
	}
}
