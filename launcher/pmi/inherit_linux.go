// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"fmt"
	"os"
	"syscall"
)

// inherit takes over a file descriptor that the launcher has opened. Pipes and
// sockets get deadlines; children of this process do not get the descriptor.
func inherit(fd int, name string) (*os.File, error) {
	syscall.CloseOnExec(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFIFO, syscall.S_IFSOCK:
		// os.NewFile leaves what blocks blocking, and so without deadlines.
		if err := syscall.SetNonblock(fd, true); err != nil {
			return nil, err
		}
	}
	f := os.NewFile(uintptr(fd), name)
	if f == nil {
		return nil, fmt.Errorf("no file descriptor %d", fd)
	}
	return f, nil
}

// inodeOf returns the inode number of what is open as fd.
func inodeOf(fd int) (uint64, error) {
	var st syscall.Stat_t
	err := syscall.Fstat(fd, &st)
	return st.Ino, err
}

func closeOnExec(fd int) { syscall.CloseOnExec(fd) }
