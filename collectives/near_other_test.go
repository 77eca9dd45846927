// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package collectives_test

// nearSettings has none: shared memory is for Linux.
func nearSettings() []setting { return nil }
