// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
)

func TestHello_EveryPESaysItsNumber(t *testing.T) {
	out := jobtest.Build(t).Succeed(3)
	got := strings.Split(strings.TrimSpace(out), "\n")
	slices.Sort(got)
	want := []string{"hello from PE 0 of 3", "hello from PE 1 of 3", "hello from PE 2 of 3"}
	if !slices.Equal(got, want) {
		t.Errorf("got lines %q, want %q", got, want)
	}
}
