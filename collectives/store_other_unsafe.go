// SPDX-License-Identifier: BSD-3-Clause

//go:build !amd64 || race

package collectives

import "sync/atomic"

// storeRelease stores v at p after everything before it.
func storeRelease(p pointer, v uint64) { atomic.StoreUint64((*uint64)(p), v) }
