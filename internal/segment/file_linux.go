// SPDX-License-Identifier: BSD-3-Clause

package segment

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// CreateFile makes an anonymous file of the layout. It has no name, so nothing
// of it outlives the processes that hold it.
func CreateFile(l Layout) (*os.File, error) {
	fd, err := unix.MemfdCreate("goshmem", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create the shared file: %w", err)
	}
	f := os.NewFile(uintptr(fd), "goshmem segment")
	if err := l.Format(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
