// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// dial connects to a server by TCP. The deadline is for the connection, too,
// until the caller sets another.
func dial(to netip.AddrPort, deadline time.Time) (*os.File, error) {
	var family int
	var sockaddr syscall.Sockaddr
	if addr := to.Addr().Unmap(); addr.Is4() {
		family, sockaddr = syscall.AF_INET, &syscall.SockaddrInet4{Port: int(to.Port()), Addr: addr.As4()}
	} else {
		family, sockaddr = syscall.AF_INET6, &syscall.SockaddrInet6{Port: int(to.Port()), Addr: addr.As16()}
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	conn := os.NewFile(uintptr(fd), to.String())
	// Small requests wait for their replies: nothing is to be collected.
	err = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	if err == nil {
		err = syscall.Connect(fd, sockaddr)
	}
	if errors.Is(err, syscall.EINPROGRESS) {
		err = connected(conn, deadline)
	}
	if err == nil {
		err = conn.SetDeadline(deadline)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect to %v: %w", to, err)
	}
	return conn, nil
}

// connected waits until a connection under way is made, or fails.
func connected(conn *os.File, deadline time.Time) error {
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Write(func(fd uintptr) (done bool) {
		code, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
		if err != nil || code != 0 {
			result = err
			if err == nil {
				result = syscall.Errno(code)
			}
			return true
		}
		_, err = syscall.Getpeername(int(fd))
		return err == nil // else it is under way
	})
	if err != nil {
		return err
	}
	return result
}
