// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package metamorphic

import "testing"

func needProcesses(t *testing.T) {
	t.Helper()
	t.Skip("gorun starts processes on Linux only")
}
