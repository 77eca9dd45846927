// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"flag"
	"io"
	"slices"
	"strings"

	"github.com/goshmem/goshmem/examples/internal/command"
)

// Options is what the command line of a kernel says.
type Options struct {
	Class      Class
	Iterations int  // 0: as many as the class asks for
	Timers     bool // report how the time was spent
	JSON       bool // report as JSON
	Form       Form // of the inner loops

	algorithm string // "": the usual one; see Algorithm
}

// Algorithm returns which of the kernel's algorithms was asked for, the first if none was. A kernel
// that names none has one. The error is a [command.UsageError].
func (o Options) Algorithm(names ...string) (string, error) {
	switch {
	case o.algorithm == "" && len(names) > 0:
		return names[0], nil
	case o.algorithm == "" || slices.Contains(names, o.algorithm):
		return o.algorithm, nil
	case len(names) == 0:
		return "", command.Usagef("-algo %s: this kernel has one algorithm only", o.algorithm)
	}
	return "", command.Usagef("-algo %s: this kernel has %s", o.algorithm, strings.Join(names, ", "))
}

// ParseOptions reads args, for a kernel that has forms beside Go. The error is a [command.UsageError], or
// [flag.ErrHelp] after the help was written to out.
func ParseOptions(kernel string, args []string, out io.Writer, forms ...Form) (Options, error) {
	opt := Options{Class: 'S'}
	flags := flag.NewFlagSet(kernel, flag.ContinueOnError)
	flags.Var(&opt.Class, "class", "problem `class`: S, W, A, B, C or D")
	flags.IntVar(&opt.Iterations, "iters", 0, "timed iterations, instead of the class's own `number`")
	flags.BoolVar(&opt.Timers, "timers", false, "report how the time was spent")
	flags.BoolVar(&opt.JSON, "json", false, "report as one JSON object")
	flags.StringVar(&opt.algorithm, "algo", "", "`algorithm`, if the kernel has several: is has bucket and count")
	form := flags.String("kernel", string(auto), "`form` of the inner loops: "+list(append([]Form{auto, Go}, forms...)))
	if err := command.Parse(flags, args, out); err != nil {
		return Options{}, err
	}
	if opt.Iterations < 0 {
		return Options{}, command.Usagef("-iters %d is negative", opt.Iterations)
	}
	if flags.NArg() > 0 {
		return Options{}, command.Usagef("unexpected argument %q", flags.Arg(0))
	}
	var err error
	opt.Form, err = choose(Form(*form), forms)
	return opt, err
}
