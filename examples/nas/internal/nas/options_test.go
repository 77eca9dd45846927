// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/command"
)

func TestParseOptions(t *testing.T) {
	for _, c := range []struct {
		args string
		want Options
	}{
		{"", Options{Class: 'S'}},
		{"-class A", Options{Class: 'A'}},
		{"-class=D -iters 3 -timers -json", Options{'D', 3, true, true}},
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
		{"A", `unexpected argument "A"`},
	} {
		_, err := ParseOptions("EP", strings.Fields(c.args), io.Discard)
		var usage *command.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q gave error %v, want a usage error with %q", c.args, err, c.reason)
		}
	}
}

func TestParseOptions_Help(t *testing.T) {
	var out bytes.Buffer
	_, err := ParseOptions("EP", []string{"-h"}, &out)
	if !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error is %v, want %v", err, flag.ErrHelp)
	}
	for _, name := range []string{"-class class", "-iters number", "-timers", "-json"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("help does not mention %q:\n%s", name, out.String())
		}
	}
}
