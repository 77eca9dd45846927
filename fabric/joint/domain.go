// SPDX-License-Identifier: BSD-3-Clause

package joint

import (
	"errors"
	"fmt"

	"github.com/goshmem/goshmem/fabric"
)

// Options say what goes where.
type Options struct {
	// PE is the own PE's number.
	PE int

	// AllFar sends every transfer through the network, also those to near PEs and to
	// the own one.
	AllFar bool

	// FarAtomics sends all atomics through the network, even if it executes them by CPU
	// instructions.
	FarAtomics bool
}

// A Domain joins two. Methods without a comment do what [fabric.Domain] says.
type Domain struct {
	near fabric.Domain
	far  fabric.Driver
	o    Options

	direct     bool // loads and stores reach near PEs
	cpuAtomics bool // so do CPU atomics
	farAtomics bool // atomics to near PEs go through the network
	stays      bool // the segment's pages must stay as they are
}

// New joins near and far, neither of which is registered yet. near must be
// [fabric.Driven]. A far domain that has a method Allocated() bool, and says true,
// has the addresses of the segment's pages: they stay as they are then.
func New(near fabric.Domain, far fabric.Driver, o Options) (*Domain, error) {
	driven, ok := near.(fabric.Driven)
	if !ok {
		return nil, errors.New("fabric/joint: the near domain's waits can't poll another one")
	}
	n, f := near.Caps(), far.Caps()
	d := &Domain{
		near:       near,
		far:        far,
		o:          o,
		direct:     n.Direct && !o.AllFar,
		farAtomics: o.AllFar || o.FarAtomics || !f.CPUAtomics,
	}
	d.cpuAtomics = d.direct && n.CPUAtomics && !d.farAtomics
	if a, ok := far.(interface{ Allocated() bool }); ok {
		d.stays = a.Allocated()
	}
	driven.Drive(far)
	return d, nil
}

// Caps implements [fabric.Domain].
func (d *Domain) Caps() fabric.Caps {
	c := d.far.Caps()
	c.Direct, c.CPUAtomics = d.direct, d.cpuAtomics
	c.Spin = 0 // Wait polls the network while it looks
	return c
}

// Map implements [fabric.Domain]. If everything goes through the network only the
// own segment is mapped.
func (d *Domain) Map(pe int) []byte {
	if d.o.AllFar && pe != d.o.PE {
		return nil
	}
	return d.near.Map(pe)
}

// Register implements [fabric.Domain]: the blob is the network's. Where all of the segment
// gets its pages now, it asks a near domain that has a method AffordsAll() error before:
// that counts once what other PEs have committed already, as Affords would not.
func (d *Domain) Register(segment []byte) ([]byte, error) {
	if a, ok := d.near.(interface{ AffordsAll() error }); ok && d.stays {
		if err := a.AffordsAll(); err != nil {
			return nil, fmt.Errorf("fabric/joint: all of a segment that is registered with this provider has to be in memory: %w", err)
		}
	}
	if _, err := d.near.Register(segment); err != nil {
		return nil, err
	}
	return d.far.Register(segment)
}

// Connect implements [fabric.Domain].
func (d *Domain) Connect(blobs fabric.Table) error {
	if err := d.near.Connect(blobs); err != nil {
		return err
	}
	return d.far.Connect(blobs)
}

// Endpoint implements [fabric.Domain].
func (d *Domain) Endpoint() (fabric.Endpoint, error) {
	near, err := d.near.Endpoint()
	if err != nil {
		return nil, err
	}
	far, err := d.far.Endpoint()
	if err != nil {
		return nil, errors.Join(err, near.Close())
	}
	return &Endpoint{d: d, near: fabric.Extend(near), far: fabric.Extend(far)}, nil
}

// Wait implements [fabric.Domain].
func (d *Domain) Wait(c fabric.Cond) error { return d.near.Wait(c) }

// WaitAny implements [fabric.Domain].
func (d *Domain) WaitAny(s fabric.Conds) error { return d.near.WaitAny(s) }

// Look implements [fabric.Domain].
func (d *Domain) Look(c fabric.Cond) bool { return d.near.Look(c) }

// Wake implements [fabric.Domain].
func (d *Domain) Wake(pe int) { d.near.Wake(pe) }

// Sleepers implements [fabric.Domain].
func (d *Domain) Sleepers() *uint32 { return d.near.Sleepers() }

// Abort implements [fabric.Domain].
func (d *Domain) Abort(err error) {
	d.near.Abort(err)
	d.far.Abort(err)
}

// Close implements [fabric.Domain].
func (d *Domain) Close() error { return errors.Join(d.far.Close(), d.near.Close()) }

// isNear reports whether PE pe's data is reached through memory.
func (d *Domain) isNear(pe int) bool { return !d.o.AllFar && d.near.Map(pe) != nil }
