// SPDX-License-Identifier: BSD-3-Clause

package shmem

import "github.com/goshmem/goshmem/collectives"

// BroadcastAsync starts a [Broadcast], which is complete after the [Collective]'s Wait.
//
// BroadcastAsync panics as Broadcast does; on a mismatch Wait does. Beyond OpenSHMEM 1.6, 9.10.7.
func BroadcastAsync[T any](team *Team, dst, src Sym[T], root int) *Collective {
	const op = "BroadcastAsync"
	checkCollective(op, team, dst, src, src.n)
	team.checkPE(op, root)
	return team.start(op, func(g *collectives.Group) error {
		return collectives.Broadcast(g, dst.off, src.off, uint32(sizeof[T]()), src.n, root)
	})
}

// AllToAllAsync starts an [AllToAll], which is complete after the [Collective]'s Wait.
//
// AllToAllAsync panics as AllToAll does; on a mismatch Wait does. Beyond OpenSHMEM 1.6, 9.10.5.
func AllToAllAsync[T any](team *Team, dst, src Sym[T]) *Collective {
	const op = "AllToAllAsync"
	checkCollective(op, team, dst, src, src.n)
	n := blockOf(op, team, src)
	return team.start(op, func(g *collectives.Group) error {
		return collectives.AllToAll(g, dst.off, src.off, uint32(sizeof[T]()), n)
	})
}

// SumReduceAsync starts a [SumReduce], which is complete after the [Collective]'s Wait.
//
// SumReduceAsync panics as SumReduce does; on a mismatch Wait does. Beyond OpenSHMEM 1.6, 9.10.9.
func SumReduceAsync[T Numeric](team *Team, dst, src Sym[T]) *Collective {
	return reduceAsync("SumReduceAsync", team, dst, src, collectives.SumReduce[T])
}

// ProdReduceAsync starts a [ProdReduce], as [SumReduceAsync] starts a SumReduce. Beyond OpenSHMEM 1.6, 9.10.9.
func ProdReduceAsync[T Numeric](team *Team, dst, src Sym[T]) *Collective {
	return reduceAsync("ProdReduceAsync", team, dst, src, collectives.ProdReduce[T])
}

// MaxReduceAsync starts a [MaxReduce], as [SumReduceAsync] starts a SumReduce. Beyond OpenSHMEM 1.6, 9.10.9.
func MaxReduceAsync[T Ordered](team *Team, dst, src Sym[T]) *Collective {
	return reduceAsync("MaxReduceAsync", team, dst, src, collectives.MaxReduce[T])
}

// MinReduceAsync starts a [MinReduce], as [SumReduceAsync] starts a SumReduce. Beyond OpenSHMEM 1.6, 9.10.9.
func MinReduceAsync[T Ordered](team *Team, dst, src Sym[T]) *Collective {
	return reduceAsync("MinReduceAsync", team, dst, src, collectives.MinReduce[T])
}

// AndReduceAsync starts an [AndReduce], as [SumReduceAsync] starts a SumReduce. Beyond OpenSHMEM 1.6, 9.10.9.
func AndReduceAsync[T Bitwise](team *Team, dst, src Sym[T]) *Collective {
	return reduceAsync("AndReduceAsync", team, dst, src, collectives.AndReduce[T])
}

// OrReduceAsync starts an [OrReduce], as [SumReduceAsync] starts a SumReduce. Beyond OpenSHMEM 1.6, 9.10.9.
func OrReduceAsync[T Bitwise](team *Team, dst, src Sym[T]) *Collective {
	return reduceAsync("OrReduceAsync", team, dst, src, collectives.OrReduce[T])
}

// XorReduceAsync starts a [XorReduce], as [SumReduceAsync] starts a SumReduce. Beyond OpenSHMEM 1.6, 9.10.9.
func XorReduceAsync[T Bitwise](team *Team, dst, src Sym[T]) *Collective {
	return reduceAsync("XorReduceAsync", team, dst, src, collectives.XorReduce[T])
}

func reduceAsync[T any](op string, team *Team, dst, src Sym[T], reduce func(*collectives.Group, collectives.Array) error) *Collective {
	a := reduction(op, team, dst, src)
	return team.start(op, func(g *collectives.Group) error { return reduce(g, a) })
}
