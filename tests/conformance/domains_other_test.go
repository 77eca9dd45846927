// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package conformance

import (
	"testing"

	"github.com/goshmem/goshmem/fabric"
)

func shmDomains(t *testing.T, _ int, _ bool) []fabric.Domain {
	t.Helper()
	t.Skip("fabric/shm is for Linux")
	return nil
}
