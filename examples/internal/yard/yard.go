// SPDX-License-Identifier: BSD-3-Clause

// Package yard is what the PGAS yardsticks share: timing between barriers, a
// sum over all PEs, even parts of the work, and the table that shows forms of one
// program side by side.
package yard

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// Seconds returns how long all PEs together take for f: from when each of them
// is there until what all have issued on their default contexts is complete. It
// is collective.
func Seconds(pe *shmem.PE, f func()) (float64, error) {
	x, err := shmem.Alloc[float64](pe, 1)
	if err != nil {
		return 0, err
	}
	pe.BarrierAll()
	start := time.Now()
	f()
	pe.BarrierAll()
	x.Local()[0] = time.Since(start).Seconds()
	shmem.MaxReduce(pe.World(), x, x) // the time of the PE that could start first
	seconds := x.Local()[0]
	shmem.Free(x)
	return seconds, nil
}

// Sum returns the sum of v over all PEs, to each of them. It is collective.
func Sum[T shmem.Numeric](pe *shmem.PE, v T) (T, error) {
	x, err := shmem.Alloc[T](pe, 1)
	if err != nil {
		return v, err
	}
	x.Local()[0] = v
	shmem.SumReduce(pe.World(), x, x)
	sum := x.Local()[0]
	shmem.Free(x)
	return sum, nil
}

// A Form is one of several ways to do the same thing.
type Form struct {
	Name    string
	Prepare func()     // makes this PE's part ready, or is nil
	Run     func()     // is timed
	Check   func() int // counts what is wrong in this PE's part
}

// Compare runs forms of a program that all do this many operations, over all
// PEs, and writes their times, rates and errors to out, side by side. On PE 0 it
// returns an error if something is wrong. It is collective.
func Compare(pe *shmem.PE, out io.Writer, operations int, forms []Form) error {
	header, seconds, rate, errors := "Form       =", "Seconds    =", "Million/s  =", "Errors     ="
	failed := []string{}
	for _, f := range forms {
		if f.Prepare != nil {
			f.Prepare()
		}
		t, err := Seconds(pe, f.Run)
		if err != nil {
			return err
		}
		wrong, err := Sum(pe, f.Check())
		if err != nil {
			return err
		}
		header += fmt.Sprintf("%12s", f.Name)
		seconds += fmt.Sprintf("%12.4f", t)
		rate += fmt.Sprintf("%12.3f", float64(operations)/t/1e6)
		errors += fmt.Sprintf("%12d", wrong)
		if wrong > 0 {
			failed = append(failed, fmt.Sprintf("%s: %d errors", f.Name, wrong))
		}
	}
	if pe.MyPE() != 0 {
		return nil
	}
	if _, err := fmt.Fprintf(out, "%s\n%s\n%s\n%s\n", header, seconds, rate, errors); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s", strings.Join(failed, "; "))
	}
	return nil
}

// A Line is a value that a program reports under a key.
type Line struct {
	Key    string
	Format string
	Value  any
}

// Report writes the lines to out, and how many errors all PEs together have
// found. On PE 0 it returns an error if there are any. It is collective.
func Report(pe *shmem.PE, out io.Writer, wrong int, lines ...Line) error {
	wrong, err := Sum(pe, wrong)
	if err != nil || pe.MyPE() != 0 {
		return err
	}
	for _, l := range append(lines, Line{"Errors", "%d", wrong}) {
		if _, err := fmt.Fprintf(out, "%-16s= %s\n", l.Key, fmt.Sprintf(l.Format, l.Value)); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d errors", wrong)
	}
	return nil
}

// Share returns the part [lo, hi) of n things that PE me of npes owns when they
// are dealt in contiguous blocks as even as can be, one thing more to each of
// the first PEs if they leave a remainder. So PE 0 has as many as anyone.
func Share(n, me, npes int) (lo, hi int) {
	each, rest := n/npes, n%npes
	lo = me*each + min(me, rest)
	hi = lo + each
	if me < rest {
		hi++
	}
	return lo, hi
}
