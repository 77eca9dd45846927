// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/internal/segment"
)

// A Provider opens domains on one node's shared file.
type Provider struct {
	file *os.File
}

// New returns a provider on file, which holds a segment layout's header. The
// file may be closed once every domain is open.
func New(file *os.File) *Provider { return &Provider{file} }

// Name implements [fabric.Provider].
func (p *Provider) Name() string { return "shm" }

// Probe implements [fabric.Provider].
func (p *Provider) Probe() error {
	_, err := p.layout()
	return err
}

func (p *Provider) layout() (segment.Layout, error) {
	b := make([]byte, segment.HeaderSize)
	if _, err := p.file.ReadAt(b, 0); err != nil && err != io.EOF {
		return segment.Layout{}, fmt.Errorf("fabric/shm: read the segment header: %w", err)
	}
	l, err := segment.ParseHeader(b)
	if err != nil {
		return l, fmt.Errorf("fabric/shm: %w", err)
	}
	st, err := p.file.Stat()
	if err != nil {
		return l, fmt.Errorf("fabric/shm: %w", err)
	}
	if st.Size() < l.FileSize() {
		return l, fmt.Errorf("fabric/shm: shared file of %d bytes, its layout needs %d", st.Size(), l.FileSize())
	}
	return l, nil
}

// Open implements [fabric.Provider]. A job.SegmentSize of 0 takes the file's.
func (p *Provider) Open(job fabric.Job) (fabric.Domain, error) {
	l, err := p.layout()
	if err != nil {
		return nil, err
	}
	if job.NPEs != l.NPEs || job.PE < l.First || job.PE >= l.First+l.PEs {
		return nil, fmt.Errorf("fabric/shm: PE %d of %d opens a file for PEs %d to %d of %d", job.PE, job.NPEs, l.First, l.First+l.PEs-1, l.NPEs)
	}
	if job.SegmentSize != 0 && job.SegmentSize != l.Size {
		return nil, fmt.Errorf("fabric/shm: segments of %d bytes asked for, the file has %d", job.SegmentSize, l.Size)
	}
	mem, err := unix.Mmap(int(p.file.Fd()), 0, int(l.FileSize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("fabric/shm: map %d bytes (%d PEs of %d): %w", l.FileSize(), l.PEs, l.Size, err)
	}
	ctl, err := segment.MapControl(mem, l)
	if err != nil {
		return nil, fmt.Errorf("fabric/shm: %w", err)
	}
	fd, err := unix.FcntlInt(p.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("fabric/shm: keep the shared file: %w", err)
	}
	// Asked for, never required: the kernel may refuse huge pages for shared memory.
	_ = unix.Madvise(mem[l.ControlSize():], unix.MADV_HUGEPAGE)
	d := &Domain{
		file:   os.NewFile(uintptr(fd), "goshmem segment"),
		layout: l,
		mem:    mem,
		ctl:    ctl,
		me:     job.PE - l.First,
		policy: policyFor(l.PEs, l.Cores),
	}
	d.status = ctl.Status(d.me)
	d.status.PID.Store(uint32(os.Getpid()))
	d.status.State.Store(segment.StateRunning)
	d.waits.init(d)
	return d, nil
}

// A Domain is one PE's view of its node's segments.
type Domain struct {
	// Set by Open; read-only afterwards.
	file   *os.File
	layout segment.Layout
	mem    []byte // the whole file
	ctl    segment.Control
	me     int // index on the node
	status *segment.Status
	policy policy
	driver fabric.Driver // what waits poll besides, or nil; set by Drive

	waits   waits
	place   place
	tokens  race.Tokens
	closed  atomic.Bool
	abortMu sync.Mutex
	abort   error
}

// Caps implements [fabric.Domain].
func (d *Domain) Caps() fabric.Caps {
	return fabric.Caps{
		Native:       fabric.AllAtomics(),
		Direct:       !race.Enabled,
		CPUAtomics:   !race.Enabled,
		InjectSize:   int(d.layout.Size),
		AutoProgress: true,
		Spin:         d.policy.spin,
	}
}

// Layout returns the layout of the node's file.
func (d *Domain) Layout() segment.Layout { return d.layout }

// Map implements [fabric.Domain].
func (d *Domain) Map(pe int) []byte {
	i := pe - d.layout.First
	if i < 0 || i >= d.layout.PEs {
		return nil
	}
	off := d.layout.Offset(i)
	return d.mem[off : off+d.layout.Size : off+d.layout.Size]
}

// Register implements [fabric.Domain]. Near PEs need no blob.
func (d *Domain) Register([]byte) ([]byte, error) { return nil, nil }

// Connect implements [fabric.Domain].
func (d *Domain) Connect(fabric.Table) error { return nil }

// Endpoint implements [fabric.Domain].
func (d *Domain) Endpoint() (fabric.Endpoint, error) { return &Endpoint{d: d}, nil }

// Sleepers implements [fabric.Domain].
func (d *Domain) Sleepers() *uint32 { return d.ctl.SleepersWord() }

// Abort implements [fabric.Domain].
func (d *Domain) Abort(err error) {
	d.abortMu.Lock()
	if d.abort == nil {
		d.abort = err
	}
	d.abortMu.Unlock()
	d.ctl.Aborted.Store(1)
	for i := range d.layout.PEs {
		d.ctl.Status(i).Doorbell.Add(1)
		futexWake(&d.ctl.Status(i).Doorbell)
	}
}

// aborted returns the reason if the job is ending.
func (d *Domain) aborted() error {
	if d.ctl.Aborted.Load() == 0 {
		if d.driver != nil {
			return d.driver.Ended()
		}
		return nil
	}
	d.abortMu.Lock()
	defer d.abortMu.Unlock()
	if d.abort != nil {
		return d.abort
	}
	return errAborted
}

// Close implements [fabric.Domain].
func (d *Domain) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.status.State.Store(segment.StateDone)
	return d.file.Close()
}
