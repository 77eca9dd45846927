// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package launcher

import (
	"fmt"
	"os"
)

// IsProxy reports whether a process with these arguments is to be a proxy.
func IsProxy([]string) bool { return false }

// Proxy runs this process as the proxy of a node: on Linux only.
func Proxy() int { return Run(Job{}) }

// Run runs a job: on Linux only.
func Run(Job) int {
	fmt.Fprintln(os.Stderr, "gorun: gorun runs on Linux only; go test and package shmemtest run PEs in one process on any system")
	return StatusError
}

// CheckNPEs reports why a node can't have n PEs.
func CheckNPEs(n int) error {
	if n < 1 || n > MaxPEs {
		return fmt.Errorf("%d PEs: want 1 to %d", n, MaxPEs)
	}
	return nil
}
