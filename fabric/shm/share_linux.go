// SPDX-License-Identifier: BSD-3-Clause

package shm

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"
)

// Share returns memory that holds data, which is the same on every PE of the node, and
// of which the node has one copy: the first PE appends it to the shared file, and
// barrier returns when it has. It is called once, by every PE of the node, before
// Close. The memory must not be written to, and stays mapped until the process ends.
func (d *Domain) Share(data []byte, barrier func() error) ([]byte, error) {
	at := d.layout.FileSize() // a multiple of the page size
	var err error
	if d.me == 0 {
		_, err = d.file.WriteAt(data, at)
	}
	if berr := barrier(); berr != nil {
		return nil, berr
	}
	if err != nil {
		return nil, fmt.Errorf("fabric/shm: share %d bytes: %w", len(data), err)
	}
	if len(data) == 0 {
		return nil, nil
	}
	st, err := d.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("fabric/shm: %w", err)
	}
	if st.Size() < at+int64(len(data)) { // a page behind the file's end must not be touched
		return nil, fmt.Errorf("fabric/shm: the node's first PE has shared %d bytes, this one has %d", st.Size()-at, len(data))
	}
	mem, err := unix.Mmap(int(d.file.Fd()), at, len(data), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("fabric/shm: map %d shared bytes: %w", len(data), err)
	}
	if !bytes.Equal(mem, data) {
		return nil, fmt.Errorf("fabric/shm: the node's first PE has shared other bytes than this one's %d", len(data))
	}
	return mem, nil
}
