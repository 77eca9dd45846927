// SPDX-License-Identifier: BSD-3-Clause

// Nasbench measures the NAS-style kernels, beside the NAS Parallel Benchmarks over MPI if there are some:
//
//	go run ./tests/nasbench -kernels cg,mg -classes A -np 1,2,4,8
//	go run ./tests/nasbench -npb ~/NPB3.4-MPI/bin -mpirun 'mpirun -np {np}'
//
// It runs from the module's root, builds the kernels, and takes turns: a run of each, then the next round. It prints a table
// of medians in Markdown; -json writes every run to a file, and -svg draws how the speed grows with the PEs.
// A number of PEs that a kernel refuses is a row that says so, and the reason goes to stderr.
// A run that fails, or does not verify, ends it with status 1, and bad usage with status 2.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options is what the command line says.
type options struct {
	kernels, classes []string
	pes              []int
	rounds           int
	timeout          time.Duration // of one run
	gorun            []string      // more of its flags
	npb              string        // folder of programs such as cg.A.x, or empty
	mpirun           []string      // {np} stands for the number of processes
	json, svg        string        // files, or empty
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "nasbench: %v; see -help\n", err)
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "nasbench:", err)
	os.Exit(1)
}

func run(ctx context.Context, args []string, out, notes io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	for _, name := range [...]string{o.json, o.svg} {
		if err := tryWrite(name); err != nil {
			return err // now, and not when all has been measured
		}
	}
	series, err := measure(ctx, &o, notes)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, table(series, o.rounds, o.npb != "")); err != nil {
		return err
	}
	if o.json != "" {
		text, err := json.MarshalIndent(series, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.svg != "" {
		return os.WriteFile(o.svg, []byte(curves(series)), 0o644)
	}
	return nil
}

// tryWrite returns an error if the file cannot be written, and leaves things as they were.
func tryWrite(name string) error {
	if name == "" {
		return nil
	}
	_, missing := os.Lstat(name)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if missing != nil {
		defer os.Remove(name)
	}
	return f.Close()
}

// A usageError says what is wrong with the command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// parse reads the command line.
func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("nasbench", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	kernels := flags.String("kernels", "ep,is,cg,mg,ft", "`list` of kernels")
	classes := flags.String("classes", "A", "`list` of problem classes")
	pes := flags.String("np", "1,2,4,8", "`list` of numbers of PEs")
	flags.IntVar(&o.rounds, "rounds", 5, "`runs` of each, in turn")
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "`limit` of a run; an MPI run beyond it is left out of the table")
	gorun := flags.String("gorun", "", "more `flags` for gorun, such as '--fabric ofi'")
	flags.StringVar(&o.npb, "npb", "", "`folder` with programs of NPB-MPI such as cg.A.x, to run beside")
	mpirun := flags.String("mpirun", "mpirun -np {np}", "`command` that starts those; {np} stands for the number of processes")
	flags.StringVar(&o.json, "json", "", "`file` for all runs")
	flags.StringVar(&o.svg, "svg", "", "`file` for the curves")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(out)
		flags.Usage()
	}
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, usageError{err.Error()}
	}
	o.kernels, o.classes = strings.Split(*kernels, ","), strings.Split(*classes, ",")
	o.gorun, o.mpirun = strings.Fields(*gorun), strings.Fields(*mpirun)
	for _, k := range o.kernels {
		if !slices.Contains(known[:], k) {
			return o, usageError{fmt.Sprintf("-kernels: %q is none of %s", k, strings.Join(known[:], ", "))}
		}
	}
	for _, c := range o.classes {
		if !slices.Contains(knownClasses[:], c) {
			return o, usageError{fmt.Sprintf("-classes: %q is none of %s", c, strings.Join(knownClasses[:], ", "))}
		}
	}
	for text := range strings.SplitSeq(*pes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, usageError{fmt.Sprintf("-np: %q is no number of PEs", text)}
		}
		o.pes = append(o.pes, n)
	}
	switch {
	case flags.NArg() > 0:
		return o, usageError{fmt.Sprintf("unexpected argument %q", flags.Arg(0))}
	case o.rounds < 1:
		return o, usageError{fmt.Sprintf("-rounds %d: at least 1", o.rounds)}
	case o.npb != "" && len(o.mpirun) == 0:
		return o, usageError{"-npb needs -mpirun"}
	}
	return o, nil
}
