// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"flag"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
)

// Options is what the command line of a kernel says.
type Options struct {
	Class      Class
	Iterations int  // 0: as many as the class asks for
	Timers     bool // report how the time was spent
	JSON       bool // report as JSON
	Form       Form // of the inner loops
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
