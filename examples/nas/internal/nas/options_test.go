// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/command"
)

func TestParseOptions(t *testing.T) {
	for _, c := range []struct {
		args string
		want Options
	}{
		{"", Options{Class: 'S', Form: Go}},
		{"-class A -kernel auto", Options{Class: 'A', Form: Go}},
		{"-class=D -iters 3 -timers -json -kernel go", Options{Class: 'D', Iterations: 3, Timers: true, JSON: true, Form: Go}},
	} {
		got, err := ParseOptions("EP", strings.Fields(c.args), io.Discard)
		if err != nil || got != c.want {
			t.Errorf("%q gave %+v, error %v, want %+v", c.args, got, err, c.want)
		}
	}
}

func TestParseOptions_RefusesWithTheReason(t *testing.T) {
	for _, c := range []struct{ args, reason string }{
		{"-class E", "class is one of S, W, A, B, C, D"},
		{"-class", "flag needs an argument"},
		{"-iters -1", "-iters -1 is negative"},
		{"-iters many", "-iters"},
		{"-klass S", "-klass"},
		{"-kernel avx2", "-kernel avx2: this kernel has go"},
		{"A", `unexpected argument "A"`},
	} {
		_, err := ParseOptions("EP", strings.Fields(c.args), io.Discard)
		var usage *command.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q gave error %v, want a usage error with %q", c.args, err, c.reason)
		}
	}
}

// A kernel's forms that the machine runs can be asked for, and the last of them
// is what it uses by itself.
func TestParseOptions_ChoosesTheForm(t *testing.T) {
	forms := []Form{AVX2, AVX512}
	runs := Runs(forms)
	for _, f := range forms {
		opt, err := ParseOptions("MG", []string{"-kernel", string(f)}, io.Discard, forms...)
		if slices.Contains(runs, f) {
			if err != nil || opt.Form != f {
				t.Errorf("-kernel %s gave %q, error %v", f, opt.Form, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "this machine runs go") {
			t.Errorf("-kernel %s, which this machine does not run, gave error %v", f, err)
		}
	}
	best := append([]Form{Go}, runs...)[len(runs)]
	if opt, err := ParseOptions("MG", nil, io.Discard, forms...); err != nil || opt.Form != best {
		t.Errorf("without being asked it chose %q, error %v, want %q", opt.Form, err, best)
	}
}

func TestOptions_Algorithm(t *testing.T) {
	for _, c := range []struct {
		args, names, want, reason string
	}{
		{"", "", "", ""},
		{"", "bucket count", "bucket", ""},
		{"-algo bucket", "bucket count", "bucket", ""},
		{"-algo count", "bucket count", "count", ""},
		{"-algo radix", "bucket count", "", "-algo radix: this kernel has bucket, count"},
		{"-algo radix", "", "", "-algo radix: this kernel has one algorithm only"},
	} {
		opt, err := ParseOptions("IS", strings.Fields(c.args), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		got, err := opt.Algorithm(strings.Fields(c.names)...)
		var usage *command.UsageError
		if got != c.want || (err != nil) != (c.reason != "") || err != nil && (!errors.As(err, &usage) || err.Error() != c.reason) {
			t.Errorf("%q of %q gave %q, error %v, want %q, error %q", c.args, c.names, got, err, c.want, c.reason)
		}
	}
}

func TestParseOptions_Help(t *testing.T) {
	var out bytes.Buffer
	_, err := ParseOptions("EP", []string{"-h"}, &out)
	if !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error is %v, want %v", err, flag.ErrHelp)
	}
	for _, name := range []string{"-class class", "-iters number", "-timers", "-json", "-algo algorithm", "-kernel form"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("help does not mention %q:\n%s", name, out.String())
		}
	}
}
