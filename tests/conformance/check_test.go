// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/goshmem/goshmem/shmem"
)

// What rows are written with.

// alloc allocates, and ends the row if that fails.
func alloc[T any](pe *shmem.PE, n int) shmem.Sym[T] {
	x, err := shmem.Alloc[T](pe, n)
	if err != nil {
		panic(err)
	}
	return x
}

// right and left are the PE's neighbours; a lone PE is its own.
func right(pe *shmem.PE) int { return (pe.MyPE() + 1) % pe.NPEs() }
func left(pe *shmem.PE) int  { return (pe.MyPE() + pe.NPEs() - 1) % pe.NPEs() }

// equal returns an error unless got is want.
func equal[T any](what string, got, want T) error {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return broken("%s: got %v, want %v", what, got, want)
}

// count returns n values from first on, in steps of one.
func count[T shmem.Numeric](first T, n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = first
		first++
	}
	return s
}

// putSlowly puts 1, 2, … to target one behind the other, so that the last is
// under way for longer than it takes the PEs to synchronise.
func putSlowly(pe *shmem.PE, x shmem.Sym[int], target int) {
	for i := range x.Len() {
		shmem.Put(x.At(i), []int{i + 1}, target)
		pe.Fence()
	}
}

// refused returns an error unless f panics with an *shmem.Error, and not because the fabric
// is broken.
func refused(what string, f func()) (err error) {
	defer func() {
		r := recover()
		var e *shmem.Error
		cause, ok := r.(error)
		switch {
		case ok && errors.Is(cause, shmem.ErrEnding):
			panic(r)
		case !ok || !errors.As(cause, &e) || errors.Is(cause, errBroken):
			err = broken("%s: not refused, but %v", what, r)
		}
	}()
	f()
	return nil
}

// all returns the first error of those that f returns for 0 to n-1.
func all(n int, f func(i int) error) error {
	for i := range n {
		if err := f(i); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return nil
}

// first returns the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// together runs f for 0 to n-1 on goroutines of their own. A panic of one
// is that of the caller.
func together(n int, f func(i int) error) error {
	outcomes := make(chan outcome, n)
	for i := range n {
		go func() { outcomes <- call(func(*shmem.PE) error { return f(i) }, nil) }()
	}
	var why error
	for range n {
		o := <-outcomes
		if o.panicked != nil {
			panic(o.panicked)
		}
		if why == nil {
			why = o.err
		}
	}
	return why
}
