// SPDX-License-Identifier: BSD-3-Clause

package yard

import (
	"bytes"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

func TestSum_IsEveryPEs(t *testing.T) {
	shmemtest.Run(t, 3, func(pe *shmem.PE) error {
		for want := range 3 { // the object is freed each time
			got, err := Sum(pe, pe.MyPE()+want)
			if err != nil || got != 3+3*want {
				t.Errorf("PE %d has sum %d, error %v, want %d", pe.MyPE(), got, err, 3+3*want)
			}
		}
		return nil
	})
}

func TestCompare_FailsOnPE0WhenAFormIsWrong(t *testing.T) {
	var out bytes.Buffer
	errs := shmemtest.Try(t, 2, func(pe *shmem.PE) error {
		done := 0
		return Compare(pe, &out, 10, []Form{
			{"good", func() { done = 1 }, func() { done++ }, func() int { return done - 2 }},
			{"bad", nil, func() {}, func() int { return pe.MyPE() }},
		})
	})
	if errs[0] == nil || errs[0].Error() != "bad: 1 errors" {
		t.Errorf("PE 0 has error %v", errs[0])
	}
	for _, want := range []string{"Form       =        good         bad\n", "Errors     =           0           1\n"} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("want %q once in:\n%s", want, out.String())
		}
	}
}

func TestReport_FailsOnPE0WhenAPEHasErrors(t *testing.T) {
	var out bytes.Buffer
	errs := shmemtest.Try(t, 3, func(pe *shmem.PE) error {
		return Report(pe, &out, pe.MyPE(), Line{"Size", "%d words", 7})
	})
	const want = "Size            = 7 words\nErrors          = 3\n"
	if errs[0] == nil || errs[0].Error() != "3 errors" || out.String() != want {
		t.Errorf("PE 0 has error %v and wrote:\n%s", errs[0], out.String())
	}
}

func TestShare_DealsAllOnce(t *testing.T) {
	for _, n := range []int{0, 1, 7, 64, 1000} {
		for npes := 1; npes <= 9; npes++ {
			next := 0
			for me := range npes {
				lo, hi := Share(n, me, npes)
				want := n / npes
				if me < n%npes {
					want++
				}
				if lo != next || hi-lo != want {
					t.Fatalf("Share(%d, %d, %d) is [%d, %d), want %d things from %d on", n, me, npes, lo, hi, want, next)
				}
				next = hi
			}
			if next != n {
				t.Errorf("%d PEs share %d of %d things", npes, next, n)
			}
		}
	}
}
