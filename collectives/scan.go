// SPDX-License-Identifier: BSD-3-Clause

package collectives

// SumInclusiveScan stores, at Dst of member i, the element-wise sum of the
// elements at Src of members 0 to i.
func SumInclusiveScan[T Number](g *Group, a Array) error {
	return g.scan(call[T](KindInclusiveScan, OpSum, a), a, func(d, s []byte) { add(view[T](d), view[T](s)) })
}

// SumExclusiveScan stores, at Dst of member i, the element-wise sum of the
// elements at Src of members 0 to i-1, and zeroes at member 0's.
func SumExclusiveScan[T Number](g *Group, a Array) error {
	return g.scan(call[T](KindExclusiveScan, OpSum, a), a, func(d, s []byte) { add(view[T](d), view[T](s)) })
}

func (g *Group) scan(c Call, a Array, f fold) error {
	switch g.choose(opScan, a.N*int(c.Elem)) {
	case carried:
		return g.scanCarried(c, a, f)
	case tree:
		return g.scanTree(c, a, f)
	default:
		return g.scanShares(c, a, f)
	}
}

// scanTree: as in reduceTree, sums come up a binomial tree. Down come those of the members before: a member
// adds its own part's to what it gets, as far as it had come when it took in a child's, and passes
// that on to the child (Blelloch 1990).
func (g *Group) scanTree(c Call, a Array, f fold) error {
	if err := g.Sync(c); err != nil {
		return err
	}
	size := a.N * int(c.Elem)
	own := append([]byte(nil), g.ownBytes(a.Src, size)...) // dst may be src
	type child struct {
		d   int
		sum []byte // of the members from this one on and before the child
	}
	var children []child
	err := g.climb(c, a, f, func(mine []byte, d int) {
		children = append(children, child{d, append([]byte(nil), mine...)})
	})
	if err != nil {
		return err
	}
	g.next(c)
	dst, before := g.ownBytes(a.Dst, size), g.buffers()[:size]
	if g.me > 0 {
		if err := g.arrived(c, g.flag()); err != nil {
			return err
		}
		copy(before, dst)
	}
	// with returns the sum of the members before this one and sum.
	with := func(sum []byte) []byte {
		if g.me == 0 {
			return sum
		}
		all := append(g.spare(), before...)
		f(all, sum)
		return all
	}
	for i := len(children) - 1; i >= 0; i-- { // the largest part first
		if err := g.sendTo(g.me+children[i].d, a.Dst, with(children[i].sum), g.flag()); err != nil {
			return err
		}
	}
	switch {
	case c.Kind == KindInclusiveScan:
		copy(dst, with(own))
	case g.me == 0:
		clear(dst)
	}
	return nil
}

// scanCarried is reduceCarried that stops before, or at, the own elements.
func (g *Group) scanCarried(c Call, a Array, f fold) error {
	size := a.N * int(c.Elem)
	if err := g.carry(c, g.ownBytes(a.Src, size)); err != nil || size == 0 {
		return err
	}
	dst, end := g.ownBytes(a.Dst, size), g.me
	if c.Kind == KindInclusiveScan {
		end++
	}
	if end == 0 {
		clear(dst)
		return nil
	}
	copy(dst, g.carried(0, size))
	for q := 1; q < end; q++ {
		f(dst, g.carried(q, size))
	}
	return nil
}

// scanShares: each member walks with one n-th part from member to member: it takes
// what is there and leaves the sum so far. n loads and n stores of each element
// in all, two synchronisations.
func (g *Group) scanShares(c Call, a Array, f fold) error {
	if err := g.Sync(c); err != nil || a.N == 0 {
		return err
	}
	lo, hi := share(a.N, g.me, g.n)
	err := g.inBlocks(int(c.Elem), lo, hi, func(off uintptr, sum []byte) error {
		clear(sum)
		for q := range g.n {
			from, err := g.load(q, a.Src+off, len(sum))
			if err != nil {
				return err
			}
			if c.Kind == KindInclusiveScan {
				if q == 0 {
					copy(sum, from) // 0 + -0 is not -0
				} else {
					f(sum, from)
				}
				err = g.store(q, a.Dst+off, sum)
			} else {
				from = append(g.spare(), from...) // dst may be src
				err = g.store(q, a.Dst+off, sum)
				if q == 0 {
					copy(sum, from)
				} else {
					f(sum, from)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.finish(c)
}
