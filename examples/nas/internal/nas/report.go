// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/goshmem/goshmem/shmem"
)

// Verification is what a kernel says about its own results.
type Verification string

// The outcomes. A run with another number of iterations than the class's own
// has no published values to be compared with.
const (
	Successful   Verification = "SUCCESSFUL"
	Unsuccessful Verification = "UNSUCCESSFUL"
	NotPerformed Verification = "NOT PERFORMED"
)

// Verdict returns the outcome of checks that passed or did not. Only a standard
// run, one as the class asks for, can be successful.
func Verdict(passed, standard bool) Verification {
	switch {
	case !passed:
		return Unsuccessful
	case !standard:
		return NotPerformed
	}
	return Successful
}

// A Result is a value that a kernel computed, as text under a name.
type Result struct{ Name, Text string }

// A Section is a part of the run and the time that its slowest PE spent in it.
type Section struct {
	Name    string
	Seconds float64
}

// A Report is the outcome of a kernel's run.
type Report struct {
	// Set by the kernel.
	Size         int     // of the problem: numbers drawn, keys
	Iterations   int     // timed ones
	Seconds      float64 // the slowest PE's
	Operations   float64 // done in this time
	Operation    string  // what was done: "keys ranked"
	Verification Verification
	Results      []Result
	Sections     []Section // empty unless asked for

	// Set by Run.
	kernel  string
	class   Class
	npes    int
	version string // of goshmem
	goes    string // Go's version
	form    Form   // of the inner loops
}

func (r *Report) megaops() float64 {
	if r.Seconds <= 0 {
		return 0
	}
	return r.Operations / r.Seconds / 1e6
}

// Write writes the report as aligned lines "key = value", with the keys of the
// NAS Parallel Benchmarks, so that scripts which read those read these.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	line := func(key, format string, args ...any) {
		fmt.Fprintf(&b, " %-16s= %24s\n", key, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "\n NAS-style benchmarks for Go shmem — %s\n\n", r.kernel)
	for _, v := range r.Results {
		line(v.Name, "%s", v.Text)
	}
	line("Class", "%s", r.class)
	line("Size", "%d", r.Size)
	line("Iterations", "%d", r.Iterations)
	line("Time in seconds", "%.4f", r.Seconds)
	line("Total processes", "%d", r.npes)
	line("Mop/s total", "%.2f", r.megaops())
	line("Mop/s/process", "%.2f", r.megaops()/float64(r.npes))
	line("Operation type", "%s", r.Operation)
	line("Verification", "%s", r.Verification)
	line("Version", "%s", r.version)
	line("Go version", "%s", r.goes)
	line("Kernel", "%s", r.form)
	for _, s := range r.Sections {
		line(s.Name, "%.4f s", s.Seconds)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the report as one JSON object on one line.
func (r *Report) WriteJSON(w io.Writer) error {
	results := make(map[string]string, len(r.Results))
	for _, v := range r.Results {
		results[v.Name] = v.Text
	}
	sections := make(map[string]float64, len(r.Sections))
	for _, s := range r.Sections {
		sections[s.Name] = s.Seconds
	}
	return json.NewEncoder(w).Encode(struct {
		Benchmark    string             `json:"benchmark"`
		Class        string             `json:"class"`
		Size         int                `json:"size"`
		Iterations   int                `json:"iterations"`
		Seconds      float64            `json:"seconds"`
		Processes    int                `json:"processes"`
		Megaops      float64            `json:"mops_total"`
		Operation    string             `json:"operation"`
		Verification Verification       `json:"verification"`
		Version      string             `json:"version"`
		Go           string             `json:"go_version"`
		Form         Form               `json:"kernel"`
		Results      map[string]string  `json:"results,omitempty"`
		Sections     map[string]float64 `json:"sections_s,omitempty"`
	}{
		r.kernel, r.class.String(), r.Size, r.Iterations, r.Seconds, r.npes, r.megaops(),
		r.Operation, r.Verification, r.version, r.goes, r.form, results, sections,
	})
}

// stamp fills in what does not depend on the kernel.
func (r *Report) stamp(kernel string, opt Options, npes int) {
	r.kernel, r.class, r.npes, r.form = kernel, opt.Class, npes, opt.Form
	r.version, r.goes = shmem.Version, runtime.Version()
}
