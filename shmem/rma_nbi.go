// SPDX-License-Identifier: BSD-3-Clause

package shmem

// PutNBI starts a Put and may return before src has been read: src must not
// change, and nothing is known about the data, until Quiet.
//
// PutNBI panics as Put does. OpenSHMEM 1.6, 9.6.2 (shmem_put_nbi).
func PutNBI[T any](x Sym[T], src []T, target int) {
	if uint(len(src)-1) < uint(x.n) {
		if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
			copy(span[T](p, len(src)), src)
			return
		}
	}
	putNBISlow(x, src, target)
}

//go:noinline
func putNBISlow[T any](x Sym[T], src []T, target int) {
	x.check("PutNBI", len(src), target)
	if len(src) > 0 {
		x.ctx.must("PutNBI", target, x.ctx.w.Endpoint().PutNBI(x.ctx.world(target), x.off, bytesOfEscaping(src)))
	}
}

// GetNBI starts a Get and may return before dst has been written: dst must not
// be used until Quiet.
//
// GetNBI panics as Get does. OpenSHMEM 1.6, 9.6.2 (shmem_get_nbi).
func GetNBI[T any](dst []T, x Sym[T], target int) {
	if uint(len(dst)-1) < uint(x.n) {
		if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
			copy(dst, span[T](p, len(dst)))
			return
		}
	}
	getNBISlow(dst, x, target)
}

//go:noinline
func getNBISlow[T any](dst []T, x Sym[T], target int) {
	x.check("GetNBI", len(dst), target)
	if len(dst) > 0 {
		x.ctx.must("GetNBI", target, x.ctx.w.Endpoint().GetNBI(x.ctx.world(target), bytesOfEscaping(dst), x.off))
	}
}
