// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"slices"
	"strings"

	"github.com/goshmem/goshmem/examples/internal/command"
)

// A Form is one of the ways in which a kernel's inner loops are written.
type Form string

// The forms. Every kernel has Go's; the others are assembly, and not built with
// the tag purego.
const (
	Go     Form = "go"
	AVX2   Form = "avx2"
	AVX512 Form = "avx512"

	auto Form = "auto" // the last of those that the kernel has and the machine can run
)

// choose returns the form to use when asked for one, by a kernel that has forms
// beside Go.
func choose(asked Form, forms []Form) (Form, error) {
	all := append([]Form{Go}, forms...)
	runs := Runs(all)
	switch {
	case asked == auto:
		return runs[len(runs)-1], nil
	case slices.Contains(runs, asked):
		return asked, nil
	case slices.Contains(all, asked):
		return "", command.Usagef("-kernel %s: this machine runs %s", asked, list(runs))
	}
	return "", command.Usagef("-kernel %s: this kernel has %s", asked, list(all))
}

// list returns the forms' names.
func list(forms []Form) string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// Runs returns those of the forms that this machine runs.
func Runs(forms []Form) []Form {
	return slices.DeleteFunc(slices.Clone(forms), func(f Form) bool { return !f.runs() })
}
