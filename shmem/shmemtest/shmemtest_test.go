// SPDX-License-Identifier: BSD-3-Clause

package shmemtest_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/shmem"
	"github.com/goshmem/goshmem/shmem/shmemtest"
)

// A recorder is a test that notes what it is told.
type recorder struct {
	testing.TB
	reports []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Error(args ...any) { r.reports = append(r.reports, fmt.Sprint(args...)) }

var errProgram = errors.New("the program's error")

// last runs f on the last PE, and lets the others wait for what never comes.
func last(f func(pe *shmem.PE) error) func(*shmem.PE) error {
	return func(pe *shmem.PE) error {
		x, err := shmem.Alloc[int32](pe, 1)
		if err != nil {
			return err
		}
		if pe.MyPE() == pe.NPEs()-1 {
			return f(pe)
		}
		shmem.WaitUntil(x, shmem.CmpNE, 0)
		return nil
	}
}

// What ends a PE ends the job, and is reported once, by the PE that it is of.
func TestRun_ReportsWhatEndedAPE(t *testing.T) {
	tests := []struct {
		name string
		f    func(pe *shmem.PE) error
		want []string // in the one report; nil: no report
	}{
		{"error", func(*shmem.PE) error { return errProgram }, []string{"PE 2: the program's error"}},
		{"panic with text", func(*shmem.PE) error { panic("bad luck") }, []string{"PE 2: panic: bad luck", "shmemtest_test.go"}},
		{"panic with an error", func(*shmem.PE) error { panic(errProgram) }, []string{"PE 2: panic: the program's error", "shmemtest_test.go"}},
		{"runtime error", func(pe *shmem.PE) error { return fmt.Errorf("%d", 1/(pe.MyPE()-2)) }, []string{"PE 2: panic: runtime error", "shmemtest_test.go"}},
		{"misuse", func(pe *shmem.PE) error { shmem.Free(shmem.Sym[int]{}); _, err := shmem.Alloc[int](pe, -1); return err }, []string{"PE 2: panic: shmem: Alloc by PE 2"}},
		{"GlobalExit", func(pe *shmem.PE) error { pe.GlobalExit(3); return nil }, []string{"PE 2: GlobalExit(3)"}},
		{"GlobalExit with status 0", func(pe *shmem.PE) error { pe.GlobalExit(0); return nil }, nil},
		{"Goexit", func(*shmem.PE) error { runtime.Goexit(); return nil }, []string{"PE 2: the PE's goroutine ended"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder{TB: t}
			shmemtest.Run(r, 3, last(test.f))
			if len(r.reports) != min(len(test.want), 1) {
				t.Fatalf("%d reports: %q", len(r.reports), r.reports)
			}
			for _, want := range test.want {
				if !strings.Contains(r.reports[0], want) {
					t.Errorf("the report lacks %q:\n%s", want, r.reports[0])
				}
			}
		})
	}
}

func TestRun_FinalizesPEsThatReturn(t *testing.T) {
	r := &recorder{TB: t}
	shmemtest.Run(r, 3, func(pe *shmem.PE) error {
		_, err := shmem.Alloc[int](pe, 1)
		return err
	})
	if r.reports != nil {
		t.Errorf("reports: %q", r.reports)
	}
}

// Try returns every PE's error, and tells those that only followed.
func TestTry_TellsCauseFromConsequence(t *testing.T) {
	errs := shmemtest.Try(t, 3, last(func(*shmem.PE) error { return errProgram }))
	if !errors.Is(errs[2], errProgram) || errors.Is(errs[2], shmem.ErrEnding) {
		t.Errorf("PE 2, which failed: %v", errs[2])
	}
	for pe, err := range errs[:2] {
		if !errors.Is(err, shmem.ErrEnding) {
			t.Errorf("PE %d, which waited: %v", pe, err)
		}
	}
	var exit *shmemtest.ExitError
	if errs := shmemtest.Try(t, 1, func(pe *shmem.PE) error { pe.GlobalExit(4); return nil }); !errors.As(errs[0], &exit) || exit.Code != 4 {
		t.Errorf("GlobalExit(4): %v", errs[0])
	}
}

func TestHeap_SetsItsSize(t *testing.T) {
	shmemtest.Run(t, 2, func(pe *shmem.PE) error {
		if _, err := shmem.Alloc[byte](pe, 100<<10); err != nil {
			return fmt.Errorf("less than the heap: %w", err)
		}
		if _, err := shmem.Alloc[byte](pe, 100<<10); err == nil {
			return errors.New("more than the heap was given")
		}
		return nil
	}, shmemtest.Heap(128<<10))
}

func TestNodes_MakesPEsNear(t *testing.T) {
	reach := func(opts ...shmemtest.Option) string {
		var s [4]string
		shmemtest.Run(t, 4, func(pe *shmem.PE) error {
			x, err := shmem.Alloc[byte](pe, 1)
			for i := range 4 {
				if err == nil && shmem.Ptr(x, i) != nil {
					s[pe.MyPE()] += fmt.Sprint(i)
				}
			}
			return err
		}, opts...)
		return strings.Join(s[:], " ")
	}
	for _, test := range []struct{ got, want string }{
		{reach(), "0 1 2 3"},
		{reach(shmemtest.Nodes(2)), "01 01 23 23"},
		{reach(shmemtest.Nodes(3)), "012 012 012 3"},
	} {
		if test.got != test.want {
			t.Errorf("PEs reach %q, want %q", test.got, test.want)
		}
	}
}

// In a bubble, a seed decides the order in which operations are delivered.
func TestDelays_RepeatARun(t *testing.T) {
	order := func(seed uint64) (seen [10]int64) {
		synctest.Test(t, func(t *testing.T) {
			shmemtest.Run(t, 2, func(pe *shmem.PE) error {
				next, err := shmem.Alloc[int64](pe, 1)
				if err != nil || pe.MyPE() > 0 {
					return err
				}
				for i := range seen {
					shmem.AtomicFetchAddNBI(&seen[i], next, 1, 1)
				}
				pe.Quiet()
				return nil
			}, shmemtest.Delays(seed, time.Second))
		})
		return seen
	}
	one := order(1)
	for range 5 {
		if again := order(1); again != one {
			t.Fatalf("seed 1 gave %v, and then %v", one, again)
		}
	}
	if two := order(2); two == one {
		t.Errorf("seeds 1 and 2 both gave %v", one)
	}
}

func TestFaults_ReachTheFabric(t *testing.T) {
	lose := loop.Faults{Drop: func(e loop.Event) bool { return e.Kind == loop.Put && e.Off >= segment.SystemSize }}
	shmemtest.Run(t, 2, func(pe *shmem.PE) error {
		x, err := shmem.Alloc[int](pe, 1)
		if err != nil {
			return err
		}
		shmem.Put(x, []int{1}, 1-pe.MyPE())
		pe.BarrierAll()
		if x.Local()[0] != 0 {
			return errors.New("the put was not lost")
		}
		return nil
	}, shmemtest.Faults(lose))
}
