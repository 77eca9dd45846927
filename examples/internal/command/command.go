// SPDX-License-Identifier: BSD-3-Clause

// Package command runs an example as a command of a job: every PE reads the
// same arguments, PE 0 alone speaks, and bad usage ends the job with status 2.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goshmem/goshmem/shmem"
)

// A UsageError says what is wrong with the arguments or with the number of
// PEs. Every PE of the job must come to the same one.
type UsageError struct{ reason string }

// Error returns the reason.
func (e *UsageError) Error() string { return e.reason }

// Usagef returns a [UsageError] with a formatted reason.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// Parse parses args by flags. Arguments that are not flags are left to the
// caller in flags.Args. The error is a [UsageError] or, when help was asked for
// and has been written to out, [flag.ErrHelp].
func Parse(flags *flag.FlagSet, args []string, out io.Writer) error {
	flags.Init(flags.Name(), flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the reason is printed once, by Exit
	err := flags.Parse(args)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		fmt.Fprintf(out, "usage of %s:\n", flags.Name())
		flags.PrintDefaults()
		return err
	}
	return &UsageError{err.Error()}
}

// Main runs a job whose PEs each call run with the program's arguments. Only
// PE 0's output goes anywhere. An error ends the job with status 1, bad usage
// with status 2.
func Main(run func(pe *shmem.PE, args []string, out io.Writer) error) {
	shmem.Main(func(pe *shmem.PE) error {
		return Exit(pe, run(pe, os.Args[1:], Output(pe)))
	})
}

// Output returns standard output on PE 0 and nothing elsewhere.
func Output(pe *shmem.PE) io.Writer {
	if pe.MyPE() == 0 {
		return os.Stdout
	}
	return io.Discard
}

// Exit ends the job with status 2 if err is a [UsageError], after PE 0 has
// printed the reason; it is collective in that case. Having been asked for help
// is no error; any other err is returned.
func Exit(pe *shmem.PE, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	var usage *UsageError
	if !errors.As(err, &usage) {
		return err
	}
	if pe.MyPE() == 0 {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
	}
	pe.BarrierAll() // nobody ends the job before PE 0 has spoken
	pe.GlobalExit(2)
	return err
}

// ParseFlags is Parse for commands that take nothing but flags.
func ParseFlags(flags *flag.FlagSet, args []string, out io.Writer) error {
	if err := Parse(flags, args, out); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return Usagef("unexpected argument %q", flags.Arg(0))
	}
	return nil
}
