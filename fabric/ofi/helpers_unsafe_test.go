// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import "unsafe"

// doorbellWord returns the doorbell's plain word, as SetWaker wants it. It is C memory that
// lives as long as d.
func doorbellWord(d *Domain) *uint32 { return (*uint32)(unsafe.Pointer(d.doorbell)) }
