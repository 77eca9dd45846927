// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// startThread starts a thread of the domain, on the cores that it may use: a thread inherits
// them from the one that starts it. The system may refuse some of them, or all: then it runs where the
// PE does.
func (d *Domain) startThread(start func() error) error {
	if len(d.o.Cores) > 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var own, wide unix.CPUSet
		for _, core := range d.o.Cores {
			wide.Set(core)
		}
		if unix.SchedGetaffinity(0, &own) == nil && unix.SchedSetaffinity(0, &wide) == nil {
			// Of what was this thread's it can't be refused.
			defer func() { _ = unix.SchedSetaffinity(0, &own) }()
		}
	}
	return start()
}
