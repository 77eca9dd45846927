// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package conformance

import "testing"

func runEndpoints(t *testing.T, _ *coverage) {
	t.Helper()
	t.Skip("fabric/shm is for Linux")
}
