// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"fmt"
	"os"
)

// settings are libfabric's variables whose defaults do not suit us. It reads them once, when
// it is first asked for something. All PEs must have the same, as they have by
// themselves.
var settings = [...]struct{ name, value string }{
	// It can keep registrations of local buffers, and watches for their end by
	// replacing the C library's munmap. Go's runtime does not call that: the watch
	// would miss memory that goes away.
	{"FI_MR_CACHE_MONITOR", "disabled"},

	// Buffers of ofi_rxm, which only atomics and acknowledgements of batches use here, a few dozen bytes each: by default
	// an endpoint touches 67 MB of them before its first message, which takes 0.1 s.
	{"FI_OFI_RXM_BUFFER_SIZE", "1024"},
	{"FI_OFI_RXM_MSG_RX_SIZE", "256"},

	// The largest message, in bytes, that ofi_rxm sends without asking: a batch, which would
	// else be fetched by its target.
	{"FI_OFI_RXM_EAGER_LIMIT", "16384"},

	// How often ofi_rxm looks for connections, in microseconds: 10 ms by default.
	{"FI_OFI_RXM_CM_PROGRESS_INTERVAL", "1000"},

	// The buffers of a TCP connection of sockets, in bytes, at the end that accepted it. It
	// takes a message's header only when all of it is there: with the kernel's default of
	// 128 KiB, the segment that holds the first part can fill the buffer, so that the rest
	// never comes (docs/fabric.md).
	{"FI_SOCKETS_MAX_BUF_SZ", "4194304"},
}

// prepare gives libfabric the settings that the user has not given.
func prepare() error {
	for _, s := range settings {
		if _, ok := os.LookupEnv(s.name); ok {
			continue
		}
		if err := os.Setenv(s.name, s.value); err != nil {
			return fmt.Errorf("set %s: %w", s.name, err)
		}
	}
	return nil
}
