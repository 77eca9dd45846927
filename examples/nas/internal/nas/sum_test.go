// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"testing"

	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

func TestSum_IsOfAllPEs(t *testing.T) {
	shmemtest.Run(t, 3, func(pe *shmem.PE) error {
		sum, err := NewSum(pe, 2)
		if err != nil {
			return err
		}
		me := float64(pe.MyPE())
		for i := range 5 {
			got := sum.Of(me, me*float64(i))
			if len(got) != 2 || got[0] != 3 || got[1] != 3*float64(i) {
				t.Errorf("call %d gave PE %d %v, want [3 %d]", i, pe.MyPE(), got, 3*i)
			}
			if got := sum.Of(1); len(got) != 1 || got[0] != 3 {
				t.Errorf("ones add up to %v, want [3]", got)
			}
		}
		return nil
	})
}

// The race detector sees whether the sum orders others' reads after writes
// before it, and writes after the next sum after these reads.
func TestSum_IsABarrier(t *testing.T) {
	for np := 2; np <= 5; np++ {
		shmemtest.Run(t, np, func(pe *shmem.PE) error {
			x, err := shmem.Alloc[int64](pe, 1)
			if err != nil {
				return err
			}
			sum, err := NewSum(pe, 1)
			if err != nil {
				return err
			}
			for i := range int64(20) {
				x.Local()[0] = i
				sum.Of(0)
				for target := range np {
					if got := shmem.GetValue(x, target); got != i {
						t.Errorf("np=%d: PE %d sees %d on PE %d, want %d", np, pe.MyPE(), got, target, i)
					}
				}
				sum.Of(0)
			}
			return nil
		})
	}
}
