// SPDX-License-Identifier: BSD-3-Clause

package joint

import "github.com/goshmem/goshmem/fabric"

// Committing memory is the near domain's business, unless the network has the
// addresses of the segment's pages: then the whole segment was committed when it was
// registered, and none of it is ever given back, because the network would go on using
// the pages that the program no longer sees.

// Affords implements [fabric.Committer].
func (d *Domain) Affords(size uintptr) error {
	if d.stays {
		return nil // Register has asked for all of it
	}
	if c, ok := d.near.(fabric.Committer); ok {
		return c.Affords(size)
	}
	return nil
}

// Commit implements [fabric.Committer].
func (d *Domain) Commit(off fabric.Addr, size uintptr) error {
	if c, ok := d.near.(fabric.Committer); ok && !d.stays {
		return c.Commit(off, size)
	}
	return nil
}

// Populate implements [fabric.Committer].
func (d *Domain) Populate(off fabric.Addr, size uintptr) {
	if c, ok := d.near.(fabric.Committer); ok && d.direct {
		c.Populate(off, size)
	}
}

// Release implements [fabric.Committer].
func (d *Domain) Release(off fabric.Addr, size uintptr) error {
	if c, ok := d.near.(fabric.Committer); ok && !d.stays {
		return c.Release(off, size)
	}
	clear(d.near.Map(d.o.PE)[off : off+size])
	return nil
}
