// SPDX-License-Identifier: BSD-3-Clause

//go:build !(ofi && cgo && linux)

package conformance

import "testing"

func needLibfabric(t *testing.T) {
	t.Helper()
	t.Skip("libfabric is behind a build tag: go test -tags ofi")
}
