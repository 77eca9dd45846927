// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"syscall"
	"time"
)

// used returns the processor's time of this process so far.
func used() (time.Duration, error) {
	var r syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), err
}
