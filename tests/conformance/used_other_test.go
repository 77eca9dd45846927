// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package conformance

import (
	"errors"
	"time"
)

// used is for jobs of processes, which there are on Linux only.
func used() (time.Duration, error) { return 0, errors.ErrUnsupported }
