// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package conformance

import "testing"

func needLibfabric(*testing.T) {}
