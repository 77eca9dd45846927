// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import (
	"bufio"
	"bytes"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/internal/race"
)

// inlined is what verbs and programs get without a call.
var inlined = [...]string{
	"shmem.Sym[*].At",
	"shmem.Sym[*].Slice",
	"shmem.Sym[*].Local",
	"shmem.Sym[*].Len",
	"shmem.Sym[*].On",
	"shmem.Sym[*].Context",
	"shmem.(*Context).Quiet",
	"shmem.(*Context).Fence",
	"shmem.(*PE).Quiet",
	"shmem.(*PE).Fence",
	"shmem.(*PE).MyPE",
	"shmem.(*PE).NPEs",
	"symheap.(*Window).Data",
	"symheap.(*Window).Word",
	"symheap.(*Window).Fence",
	"symheap.(*Window).Due",
	"symheap.(*Window).FenceDue",
}

func TestInlining(t *testing.T) {
	if race.Enabled || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the promise is for 64-bit machines without the race detector")
	}
	// The build cache repeats what the compiler said.
	out, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-m", "-o", t.TempDir(), "./testdata/inline").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := map[string]bool{}
	// Only calls of the program's: in wrappers that nobody calls, all is inlined.
	inlining := regexp.MustCompile(`^testdata/inline/main\.go:.*inlining call to (.*)`)
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if m := inlining.FindStringSubmatch(s.Text()); m != nil {
			found[generic(m[1])] = true
		}
	}
	for _, name := range inlined {
		if !found[name] {
			t.Errorf("%s is not inlined", name)
		}
	}
	if t.Failed() {
		t.Logf("inlined are %v", found)
	}
}

// generic replaces type arguments, with their commas and brackets, by a star.
func generic(name string) string {
	before, rest, ok := strings.Cut(name, "[")
	if !ok {
		return name
	}
	return before + "[*" + rest[strings.LastIndexByte(rest, ']'):]
}
