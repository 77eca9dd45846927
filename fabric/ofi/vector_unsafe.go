// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

/*
#cgo nocallback shim_put_list
#cgo nocallback shim_get_list
#cgo noescape shim_put_list
#cgo noescape shim_get_list
#include "shim.h"
*/
import "C"

import "unsafe"

// A partList is the ranges of a vectored transfer as the shim reads them during one
// call, which keeps nothing of it: so these calls alone are noescape. The ranges'
// memory is named by addresses, and pinned by whoever adds it.
type partList struct {
	n     int
	parts [64]C.struct_shim_part
}

func (l *partList) full() bool { return l.n == len(l.parts) }

// add adds data, which is not empty, and goes to or comes from remote.
func (l *partList) add(data []byte, remote uint64) {
	l.parts[l.n] = C.struct_shim_part{
		local:  C.uint64_t(uintptr(unsafe.Pointer(unsafe.SliceData(data)))), // pinned, so that it stays there
		remote: C.uint64_t(remote),
		size:   C.uint64_t(len(data)),
	}
	l.n++
}

func (s stream) list(t target, l *partList, put bool, from uint64, w waiter) result {
	if put {
		return resultOf(C.shim_put_list(s.c, t.c(), &l.parts[0], C.size_t(l.n), C.size_t(from), w.c))
	}
	return resultOf(C.shim_get_list(s.c, t.c(), &l.parts[0], C.size_t(l.n), C.size_t(from), w.c))
}
