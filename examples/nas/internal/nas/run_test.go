// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"bytes"
	"errors"
	"slices"
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

func TestTimers(t *testing.T) {
	shmemtest.Run(t, 3, func(pe *shmem.PE) error {
		off, on := NewTimers(false, "a", "b"), NewTimers(true, "a", "b")
		for _, timers := range []*Timers{off, on} {
			seconds, sections, err := timers.Time(pe, func() error {
				timers.Lap(1)
				timers.Lap(0)
				return nil
			})
			if err != nil || seconds <= 0 {
				t.Errorf("it took %v s, error %v", seconds, err)
			}
			if timers == off && sections != nil {
				t.Errorf("timers that are off give %v", sections)
			}
			if timers == on && (len(sections) != 2 || sections[0].Seconds <= 0 || sections[1].Seconds <= 0) {
				t.Errorf("sections are %v, want a and b, with their times", sections)
			}
		}
		_, sections, err := on.Time(pe, func() error { return nil })
		if err != nil || !slices.Equal(sections, []Section{{"a", 0}, {"b", 0}}) {
			t.Errorf("without a lap, sections are %v, error %v", sections, err)
		}
		return nil
	})
}

func TestTimers_ReturnTheError(t *testing.T) {
	shmemtest.Run(t, 1, func(pe *shmem.PE) error {
		want := errors.New("no")
		if _, _, err := NewTimers(true).Time(pe, func() error { return want }); !errors.Is(err, want) {
			t.Errorf("got error %v, want %v", err, want)
		}
		return nil
	})
}

func TestSlowest_IsTheLargestOfEachPE(t *testing.T) {
	shmemtest.Run(t, 3, func(pe *shmem.PE) error {
		me := time.Duration(pe.MyPE())
		got, err := slowest(pe, me*time.Second, (5-me)*time.Second)
		if err != nil || !slices.Equal(got, []float64{2, 5}) {
			t.Errorf("PE %d got %v, error %v, want [2 5]", pe.MyPE(), got, err)
		}
		return nil
	})
}
