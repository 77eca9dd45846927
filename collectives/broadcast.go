// SPDX-License-Identifier: BSD-3-Clause

package collectives

import "github.com/goshmem/goshmem/fabric"

// Broadcast copies n elements of elem bytes at src of member root to dst of
// every member, the root's included.
func Broadcast(g *Group, dst, src fabric.Addr, elem uint32, n, root int) error {
	c := Call{Kind: KindBroadcast, Elem: elem, N: uint64(n), Arg: uint64(root)}
	return g.broadcast(c, dst, src, n*int(elem), root)
}

func (g *Group) broadcast(c Call, dst, src fabric.Addr, size, root int) error {
	switch g.choose(opBroadcast, size) {
	case leaders:
		return g.broadcastLeaders(c, dst, src, size, root)
	case relay:
		return g.broadcastRelay(c, dst, src, size, root)
	case tree:
		return g.broadcastTree(c, dst, src, size, root)
	case carried:
		return g.broadcastCarried(c, dst, src, size, root)
	default:
		return g.broadcastShown(c, dst, src, size, root)
	}
}

// broadcastCarried: the root shows the elements, which the others wait for. It waits for
// nobody. The others show their call, for who takes one of them for the root.
func (g *Group) broadcastCarried(c Call, dst, src fabric.Addr, size, root int) error {
	if err := g.leave(c); err != nil {
		return err
	}
	if g.me != root {
		g.mark()
		if err := g.awaitShown(root, c); err != nil {
			return err
		}
		copy(g.ownBytes(dst, size), g.carried(root, size))
		return nil
	}
	g.show(g.ownBytes(src, size))
	copy(g.ownBytes(dst, size), g.ownBytes(src, size))
	return nil
}

// broadcastShown: the root shows that it has come, the others pull, all at once, and show
// that they have done so; the root waits for all.
func (g *Group) broadcastShown(c Call, dst, src fabric.Addr, size, root int) error {
	if err := g.leave(c); err != nil {
		return err
	}
	if g.me != root {
		if err := g.awaitShown(root, c); err != nil {
			return err
		}
		copyBlocks(g.ownBytes(dst, size), g.bytesAt(root, src, size))
		g.show(nil)
		return nil
	}
	g.show(nil)
	if dst != src {
		copyBlocks(g.ownBytes(dst, size), g.ownBytes(src, size))
	}
	for i := 1; i < g.n; i++ {
		if err := g.awaitShown((root+i)%g.n, c); err != nil {
			return err
		}
	}
	return nil
}

// cached is how much is copied at a time where the copy will be read soon: Go's copy of
// a mebibyte or more stores around the caches.
const cached = 256 << 10

// copyBlocks copies src to dst of the same length.
func copyBlocks(dst, src []byte) {
	for len(src) > 0 {
		n := copy(dst, src[:min(cached, len(src))])
		dst, src = dst[n:], src[n:]
	}
}
