// SPDX-License-Identifier: BSD-3-Clause

package symheap

// A freeTree holds the free blocks of a heap by offset. No two of them touch.
//
// It is a treap (Aragon & Seidel 1989): a search tree by offset and a heap by
// priority, of expected depth O(log n). Each block also knows the largest
// block of its subtree, so the search for the first fit skips the subtrees
// without one. Priorities are hashes of offsets: as good as random ones, and
// the same on every PE.
type freeTree struct {
	root *freeBlock
}

// A freeBlock is the free range [off, off+size).
type freeBlock struct {
	off, size   uintptr
	largest     uintptr // largest size of this block and those below it
	priority    uint64  // not below those of left and right
	left, right *freeBlock
}

func (b *freeBlock) end() uintptr { return b.off + b.size }

// largest returns the size of the largest block, 0 if there is none.
func (t *freeTree) largest() uintptr { return t.root.max() }

// floor returns the last block that starts at off or before, or nil.
func (t *freeTree) floor(off uintptr) *freeBlock {
	var last *freeBlock
	for b := t.root; b != nil; {
		if b.off > off {
			b = b.left
		} else {
			last, b = b, b.right
		}
	}
	return last
}

// fit returns the lowest multiple of align at which size free bytes start.
func (t *freeTree) fit(size, align uintptr) (off uintptr, ok bool) {
	return t.root.fit(size, align)
}

// insert adds a block that touches no other.
func (t *freeTree) insert(off, size uintptr) {
	b := &freeBlock{off: off, size: size, priority: hash(uint64(off))}
	b.update()
	t.root = t.root.insert(b)
}

// remove removes the block that starts at off.
func (t *freeTree) remove(off uintptr) {
	t.root = t.root.remove(off)
}

// max returns the size of the largest block in the tree under b.
func (b *freeBlock) max() uintptr {
	if b == nil {
		return 0
	}
	return b.largest
}

// update recomputes largest after b's children have changed.
func (b *freeBlock) update() {
	b.largest = max(b.size, b.left.max(), b.right.max())
}

func (b *freeBlock) fit(size, align uintptr) (off uintptr, ok bool) {
	if b == nil || b.largest < size {
		return 0, false
	}
	if off, ok := b.left.fit(size, align); ok {
		return off, true
	}
	if pad := -b.off & (align - 1); pad <= b.size && size <= b.size-pad {
		return b.off + pad, true
	}
	return b.right.fit(size, align)
}

// insert returns the tree under b with n added.
func (b *freeBlock) insert(n *freeBlock) *freeBlock {
	switch {
	case b == nil:
		return n
	case b.priority < n.priority:
		n.left, n.right = b.split(n.off)
		n.update()
		return n
	case n.off < b.off:
		b.left = b.left.insert(n)
	default:
		b.right = b.right.insert(n)
	}
	b.update()
	return b
}

// remove returns the tree under b without the block that starts at off.
func (b *freeBlock) remove(off uintptr) *freeBlock {
	switch {
	case off == b.off:
		return join(b.left, b.right)
	case off < b.off:
		b.left = b.left.remove(off)
	default:
		b.right = b.right.remove(off)
	}
	b.update()
	return b
}

// split returns the tree under b as two: blocks before off, and the others.
func (b *freeBlock) split(off uintptr) (before, behind *freeBlock) {
	if b == nil {
		return nil, nil
	}
	if b.off < off {
		b.right, behind = b.right.split(off)
		b.update()
		return b, behind
	}
	before, b.left = b.left.split(off)
	b.update()
	return before, b
}

// join returns a tree of the blocks under a and b; a's are before b's.
func join(a, b *freeBlock) *freeBlock {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority < b.priority:
		b.left = join(a, b.left)
		b.update()
		return b
	default:
		a.right = join(a.right, b)
		a.update()
		return a
	}
}

// hash is the finalizer of splitmix64 (Steele, Lea & Flood 2014).
func hash(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
