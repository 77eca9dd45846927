// SPDX-License-Identifier: BSD-3-Clause

package netns

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Delay makes every frame to and from the host take d longer, until the test's end:
// its link no longer ends at the bridge but at a relay in this process, which hands on
// what it reads when it is due.
func (h Host) Delay(t testing.TB, d time.Duration) {
	t.Helper()
	inner, outer := h.port+"-in", h.port+"-out"
	run(t, "ip", "-n", h.hub, "link", "add", inner, "type", "veth", "peer", "name", outer)
	run(t, "ip", "-n", h.hub, "link", "set", inner, "up")
	run(t, "ip", "-n", h.hub, "link", "set", h.port, "nomaster")
	run(t, "ip", "-n", h.hub, "link", "set", outer, "master", "bridge", "up")
	ports, err := openPorts(h.hub, h.port, inner)
	if err != nil {
		t.Fatalf("netns: open the ports of a relay: %v", err)
	}
	done := make(chan error, len(ports))
	for i := range ports {
		go func() { done <- relay(ports[1-i], ports[i], d) }()
	}
	t.Cleanup(func() {
		for _, p := range ports {
			p.Close()
		}
		for range ports {
			if err := <-done; err != nil {
				t.Errorf("netns: relay: %v", err)
			}
		}
	})
}

// maxFrame is the size in bytes of the largest frame: one that the interface would have
// cut into pieces.
const maxFrame = 64<<10 + 256

// relay hands on what comes from one port to the other until both are closed.
func relay(to, from *os.File, d time.Duration) error {
	type frame struct {
		due   time.Time
		bytes []byte
	}
	frames := make(chan frame, 8192)
	go func() {
		defer close(frames)
		buffer := make([]byte, maxFrame)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return // closed
			}
			frames <- frame{time.Now().Add(d), append([]byte(nil), buffer[:n]...)}
		}
	}()
	var failed error
	for f := range frames {
		time.Sleep(time.Until(f.due))
		if _, err := to.Write(f.bytes); err != nil && failed == nil && !errors.Is(err, os.ErrClosed) {
			failed = fmt.Errorf("frame of %d bytes: %w", len(f.bytes), err)
		}
	}
	return failed
}

// openPorts opens packet sockets on interfaces of a namespace.
func openPorts(namespace string, interfaces ...string) (ports []*os.File, err error) {
	err = within(namespace, func() error {
		for _, name := range interfaces {
			fd, err := openPort(name)
			if err != nil {
				return err
			}
			ports = append(ports, os.NewFile(uintptr(fd), name))
		}
		return nil
	})
	if err != nil {
		for _, p := range ports {
			p.Close()
		}
		return nil, err
	}
	return ports, nil
}

// within runs f on a thread that is in the namespace meanwhile. What f opens stays there.
func within(namespace string, f func() error) error {
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	there, err := os.Open("/run/netns/" + namespace)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = f()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, back) // the thread is lost: nobody else may run on it
	}
	runtime.UnlockOSThread()
	return err
}

// packetIgnoreOutgoing is PACKET_IGNORE_OUTGOING of linux/if_packet.h.
const packetIgnoreOutgoing = 23

// openPort opens a socket that reads what arrives at an interface, and writes what it
// is to send. Frames come and go with a header that says what is still to be done to them,
// checksums and cutting, which is left to whoever receives them at last.
func openPort(name string) (fd int, err error) {
	const everything = unix.ETH_P_ALL
	swapped := uint16(everything<<8&0xff00 | everything>>8) // in network order
	fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	for option, value := range map[int]int{packetIgnoreOutgoing: 1, unix.PACKET_VNET_HDR: 1} {
		if err == nil {
			err = unix.SetsockoptInt(fd, unix.SOL_PACKET, option, value)
		}
	}
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20)
	}
	var index int
	if err == nil {
		index, err = interfaceIndex(fd, name)
	}
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: swapped, Ifindex: index})
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("%s: %w", name, err)
	}
	return fd, nil
}

func interfaceIndex(fd int, name string) (int, error) {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return 0, err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, request); err != nil {
		return 0, err
	}
	return int(request.Uint32()), nil
}
