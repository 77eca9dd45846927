// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"slices"

	"github.com/goshmem/goshmem/shmem"
)

func collectRows() []row {
	return []row{
		{
			sec: "9.10.8", name: "collect: as many elements of each PE as it has, none of some",
			heap: 1 << 20, faults: []fault{lostPuts, quietIgnored},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				for _, lengths := range [][]int{{3, 0, 5}, {0, 0, 1}, {0}, {1}, {1000, 1, 0, 7}, {2, 4}} {
					var want []int32
					for q := range n {
						want = append(want, count(int32(q*10000), lengths[q%len(lengths)])...)
					}
					src, dst := alloc[int32](pe, 1000), alloc[int32](pe, 1000*n+1)
					m := lengths[pe.MyPE()%len(lengths)]
					copy(src.Local(), count(int32(pe.MyPE()*10000), m))
					shmem.Collect(pe.World(), dst, src.Slice(0, m))
					if err := equal("dst", dst.Local()[:len(want)+1], append(want, 0)); err != nil {
						return err
					}
					shmem.Free(src)
					shmem.Free(dst)
				}
				return nil
			},
		},
		{
			sec: "9.10.8", name: "collect: many in a row, of lengths that change",
			faults: []fault{lostPuts},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				src, dst := alloc[byte](pe, 8), alloc[byte](pe, 8*n)
				for round := range 10 {
					want := []byte{}
					for q := range n {
						want = append(want, slices.Repeat([]byte{byte(round + q)}, (round+3*q)%8)...)
					}
					for i := range src.Local() {
						src.Local()[i] = byte(round + pe.MyPE())
					}
					shmem.Collect(pe.World(), dst, src.Slice(0, (round+3*pe.MyPE())%8))
					if err := equal("dst", dst.Local()[:len(want)], want); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			sec: "9.10.8", name: "collect: too little room is every PE's error",
			faults: []fault{lostSync},
			run: func(pe *shmem.PE) error {
				src, dst := alloc[int16](pe, 4), alloc[int16](pe, 4*pe.NPEs()-1)
				return refused("collect into a short object", func() { shmem.Collect(pe.World(), dst, src) })
			},
		},
		{
			sec: "9.10.6", name: "alltoalls: elements with gaps, which stay as they were",
			heap: 1 << 20, faults: []fault{lostPuts, quietIgnored},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				for _, c := range []struct{ ds, ss, m int }{{1, 1, 3}, {2, 1, 4}, {1, 3, 5}, {3, 2, 1}, {2, 2, 100}, {5, 7, 0}} {
					src, dst := alloc[int32](pe, n*c.m*c.ss+1), alloc[int32](pe, n*c.m*c.ds+1)
					value := func(from, to, k int) int32 { return int32(from<<16 + to<<12 + k + 1) }
					for j := range n {
						for k := range c.m {
							src.Local()[(j*c.m+k)*c.ss] = value(pe.MyPE(), j, k)
						}
					}
					shmem.AllToAllStrided(pe.World(), dst, src, c.ds, c.ss, c.m)
					want := make([]int32, dst.Len())
					for i := range n {
						for k := range c.m {
							want[(i*c.m+k)*c.ds] = value(i, pe.MyPE(), k)
						}
					}
					if err := equal("dst", dst.Local(), want); err != nil {
						return err
					}
					shmem.Free(src)
					shmem.Free(dst)
				}
				return nil
			},
		},
		{
			sec: "9.10.5", name: "beyond: alltoallv gives each PE as many elements as the giver says",
			heap: 1 << 20, faults: []fault{lostGets},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				amount := func(from, to int) int { return (3*from + 5*to) % 7 }
				src, dst := alloc[int32](pe, 7*n), alloc[int32](pe, 7*n)
				counts, received := alloc[int64](pe, n), make([]int, n)
				at := 0
				for j := range n {
					counts.Local()[j] = int64(amount(pe.MyPE(), j))
					at += copy(src.Local()[at:], count(int32(pe.MyPE()<<16+j<<8), amount(pe.MyPE(), j)))
				}
				shmem.AllToAllV(pe.World(), dst, src, counts, received)
				var want []int32
				wantReceived := make([]int, n)
				for i := range n {
					wantReceived[i] = amount(i, pe.MyPE())
					want = append(want, count(int32(i<<16+pe.MyPE()<<8), amount(i, pe.MyPE()))...)
				}
				return first(
					equal("received", received, wantReceived),
					equal("dst", dst.Local(), append(want, make([]int32, 7*n-len(want))...)),
				)
			},
		},
		{
			sec: "9.10.5", name: "beyond: alltoallv into too little room of one PE is every PE's error",
			faults: []fault{lostGets, lostSync},
			run: func(pe *shmem.PE) error {
				n := pe.NPEs()
				src, dst, counts := alloc[int64](pe, n), alloc[int64](pe, n), alloc[int64](pe, n)
				copy(counts.Local(), slices.Repeat([]int64{1}, n))
				if pe.MyPE() == 0 {
					dst = dst.Slice(0, n-1)
				}
				return refused("alltoallv into a short object", func() { shmem.AllToAllV(pe.World(), dst, src, counts, nil) })
			},
		},
	}
}
