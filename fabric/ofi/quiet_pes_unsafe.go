// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

/*
#cgo nocallback shim_quiet_pes
#cgo noescape shim_quiet_pes
#include "shim.h"
*/
import "C"

import "unsafe"

// quietPEs waits for what was counted so far to pes, which ascend and are some; see
// shim_quiet_pes. The call keeps nothing of them, so they may be on a stack.
func (s stream) quietPEs(pes []int32) result {
	return resultOf(C.shim_quiet_pes(s.c, (*C.int32_t)(unsafe.SliceData(pes)), C.size_t(len(pes)))) // alive during the call
}
