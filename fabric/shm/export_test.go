// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package shm

import (
	"time"

	"github.com/goshmem/goshmem/fabric"
)

// SetNap sets the longest time that a wait of d sleeps unless it is rung.
func SetNap(d fabric.Domain, nap time.Duration) { d.(*Domain).policy.nap = nap }

// NapAfter returns how long a wait's nap may be after n others.
func NapAfter(n int) time.Duration {
	nap := firstNap
	for range n {
		nap = nextNap(nap)
	}
	return nap
}
