// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import (
	"sync/atomic"
	"unsafe"

	"github.com/goshmem/goshmem/fabric"
)

// store stores a uint64 into a mapped segment, as a program's own store does.
func store(segment []byte, off fabric.Addr, v uint64) {
	// In bounds: all 8 bytes are, by the slice expression; alive as long as the segment.
	atomic.StoreUint64((*uint64)(unsafe.Pointer(unsafe.SliceData(segment[off:off+8]))), v)
}
