// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

func TestRun_FailsOnPE0WhenVerificationDoes(t *testing.T) {
	kernel := func(*shmem.PE, Options) (Report, error) { return Report{Verification: Unsuccessful}, nil }
	var out bytes.Buffer
	errs := shmemtest.Try(t, 2, func(pe *shmem.PE) error { return Run(pe, "XX", kernel, nil, &out) })
	if errs[0] == nil || errs[0].Error() != "XX class S: verification failed" {
		t.Errorf("PE 0 has error %v", errs[0])
	}
	if n := strings.Count(out.String(), "UNSUCCESSFUL"); n != 1 {
		t.Errorf("%d PEs have reported, want PE 0 alone:\n%s", n, out.String())
	}
}

func TestSlowest_IsTheLargestOfEachPE(t *testing.T) {
	shmemtest.Run(t, 3, func(pe *shmem.PE) error {
		me := time.Duration(pe.MyPE())
		got, err := Slowest(pe, me*time.Second, (5-me)*time.Second)
		if err != nil {
			return err
		}
		if len(got) != 2 || got[0] != 2 || got[1] != 5 {
			t.Errorf("PE %d got %v, want [2 5]", pe.MyPE(), got)
		}
		return nil
	})
}

func TestTimers(t *testing.T) {
	shmemtest.Run(t, 2, func(pe *shmem.PE) error {
		off := NewTimers(false, "a")
		off.Start()
		off.Lap(0)
		if s, err := off.Sections(pe); err != nil || s != nil {
			t.Errorf("timers that are off give %v, error %v", s, err)
		}

		on := NewTimers(true, "a", "b")
		on.Start()
		on.Lap(1)
		on.Lap(0)
		s, err := on.Sections(pe)
		if err != nil {
			return err
		}
		if len(s) != 2 || s[0].Name != "a" || s[1].Name != "b" || s[0].Seconds <= 0 || s[1].Seconds <= 0 {
			t.Errorf("sections are %v, want a and b, with their times", s)
		}
		return nil
	})
}
