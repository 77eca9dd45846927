// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "github.com/goshmem/goshmem/fabric"

// PutStrided copies n elements: src[i*srcStride] to element i*dstStride of x on
// PE target, for i in [0, n). Strides are in elements and at least 1.
// Completion is Put's.
//
// PutStrided panics as Put does, and if a stride is less than 1 or n is
// negative. OpenSHMEM 1.6, 9.6.1 (shmem_iput).
func PutStrided[T any](x Sym[T], src []T, dstStride, srcStride, n, target int) {
	putBlocks("PutStrided", x, src, dstStride, srcStride, 1, n, target)
}

// GetStrided copies n elements: element i*srcStride of x on PE target to
// dst[i*dstStride], for i in [0, n). Completion is Get's.
//
// GetStrided panics as PutStrided does. OpenSHMEM 1.6, 9.6.1 (shmem_iget).
func GetStrided[T any](dst []T, x Sym[T], dstStride, srcStride, n, target int) {
	getBlocks("GetStrided", dst, x, dstStride, srcStride, 1, n, target)
}

// PutBlocks copies blocks blocks of size elements each: from src at multiples
// of srcStride to x on PE target at multiples of dstStride. Strides are in
// elements, from start to start, and at least size. Completion is Put's.
//
// PutBlocks panics as Put does, and if size or blocks is negative or a stride
// less than size. OpenSHMEM 1.6, 9.6.1 (shmem_ibput).
func PutBlocks[T any](x Sym[T], src []T, dstStride, srcStride, size, blocks, target int) {
	putBlocks("PutBlocks", x, src, dstStride, srcStride, size, blocks, target)
}

// GetBlocks copies blocks blocks of size elements each: from x on PE target at
// multiples of srcStride to dst at multiples of dstStride. Completion is Get's.
//
// GetBlocks panics as PutBlocks does. OpenSHMEM 1.6, 9.6.1 (shmem_ibget).
func GetBlocks[T any](dst []T, x Sym[T], dstStride, srcStride, size, blocks, target int) {
	getBlocks("GetBlocks", dst, x, dstStride, srcStride, size, blocks, target)
}

func putBlocks[T any](op string, x Sym[T], src []T, ds, ss, size, blocks, target int) {
	if checkStrided(op, x, ds, ss, size, blocks, target, len(src), false) {
		return
	}
	if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
		copyStrided[T](p, address(src), ds, ss, size, blocks)
		return
	}
	x.ctx.must(op, target, x.ctx.w.Endpoint().PutStrided(x.ctx.world(target), x.off, bytesOf(src), strides[T](ds, ss, size, blocks)))
}

func getBlocks[T any](op string, dst []T, x Sym[T], ds, ss, size, blocks, target int) {
	if checkStrided(op, x, ds, ss, size, blocks, target, len(dst), true) {
		return
	}
	if p := x.ctx.data(target, x.off, x.obj.live); p != nil {
		copyStrided[T](address(dst), p, ds, ss, size, blocks)
		return
	}
	x.ctx.must(op, target, x.ctx.w.Endpoint().GetStrided(x.ctx.world(target), bytesOf(dst), x.off, strides[T](ds, ss, size, blocks)))
}

// checkStrided panics on misuse and reports whether there is nothing to copy.
// have is the length of the local side, which is the destination of a get.
func checkStrided[T any](op string, x Sym[T], ds, ss, size, blocks, target, have int, get bool) (empty bool) {
	remote, local := ds, ss
	if get {
		remote, local = ss, ds
	}
	if size > 0 && blocks > 0 && ds >= size && ss >= size &&
		size <= x.n && blocks-1 <= (x.n-size)/remote &&
		size <= have && blocks-1 <= (have-size)/local &&
		uint(target) < uint(x.ctx.npes) && x.obj.live != 0 {
		return false
	}
	x.check(op, 0, target)
	switch {
	case blocks < 0 || size < 0:
		x.refuse(op, target, "%d blocks of %d elements: neither may be negative", blocks, size)
	case blocks == 0 || size == 0:
	case ds < size || ss < size:
		x.refuse(op, target, "strides %d (destination) and %d (source) must be at least %d", ds, ss, size)
	case size > x.n || blocks-1 > (x.n-size)/remote:
		x.refuse(op, target, "%d blocks of %d elements at stride %d do not fit the object's %d", blocks, size, remote, x.n)
	default:
		x.refuse(op, target, "%d blocks of %d elements at stride %d do not fit the local slice's %d", blocks, size, local, have)
	}
	return true
}

func strides[T any](ds, ss, size, blocks int) fabric.Strides {
	e := int(sizeof[T]())
	return fabric.Strides{Block: size * e, Blocks: blocks, Dst: ds * e, Src: ss * e}
}
