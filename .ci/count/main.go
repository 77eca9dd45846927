// SPDX-License-Identifier: BSD-3-Clause

// Command count reads the output of go test -json from standard input, shows
// what failed and what was skipped, and appends "passed failed skipped" as a
// line of numbers to the file that its argument names. Lines that are no JSON
// are passed on. It exits with status 1 if a test failed, and with 2 if none ran.
//
// Tests and subtests count one each. A package that fails without a failing
// test (it does not compile, or panics outside a test) counts as one failure.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json … | count FILE")
		os.Exit(2)
	}
	totals, err := count(os.Stdin, os.Stdout)
	if err == nil {
		err = appendLine(os.Args[1], fmt.Sprintln(totals.passed, totals.failed, totals.skipped))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
		os.Exit(2)
	}
	fmt.Println(totals)
	if totals.failed > 0 {
		os.Exit(1)
	}
}

func appendLine(name, line string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(line); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// event is one line of go test -json; see go doc test2json. The lines of the
// compiler name their package by ImportPath.
type event struct {
	Action, Package, ImportPath, Test, Output string
	FailedBuild                               string
	Elapsed                                   float64
}

type totals struct{ passed, failed, skipped int }

func (t totals) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

// counter keeps each test's output until its end says whether it is wanted.
type counter struct {
	totals
	w          io.Writer
	output     map[string][]string // by package and test
	failedTest map[string]bool     // packages with a failed test
}

func count(r io.Reader, w io.Writer) (totals, error) {
	c := counter{w: w, output: map[string][]string{}, failedTest: map[string]bool{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				c.add(e)
			} else {
				fmt.Fprint(w, line)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return c.totals, err
		}
	}
	if c.totals == (totals{}) {
		return c.totals, fmt.Errorf("no test ran")
	}
	return c.totals, nil
}

func (c *counter) add(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		c.output[key] = append(c.output[key], e.Output)
		return
	case "build-output":
		c.output[e.ImportPath] = append(c.output[e.ImportPath], e.Output)
		return
	case "pass":
		if e.Test != "" {
			c.passed++
		} else {
			fmt.Fprintf(c.w, "ok   %s %.1fs\n", e.Package, e.Elapsed)
		}
	case "skip":
		if e.Test != "" {
			c.skipped++
			fmt.Fprintf(c.w, "skip %s: %s\n", key, reason(c.output[key]))
		}
	case "fail":
		switch {
		case e.Test != "":
			c.failedTest[e.Package] = true
			c.failed++
		case !c.failedTest[e.Package]:
			c.failed++
		}
		fmt.Fprintf(c.w, "FAIL %s %.1fs\n", key, e.Elapsed)
		c.print(e.FailedBuild)
		c.print(key)
		if e.Test == "" {
			c.printUnended(e.Package, key)
		}
	default:
		return
	}
	delete(c.output, key)
}

// printUnended prints the output of a package's tests that had no end of their own: one of them was
// under way when the time was up, or the process died.
func (c *counter) printUnended(pkg, own string) {
	for _, key := range slices.Sorted(maps.Keys(c.output)) {
		if key != own && strings.HasPrefix(key, pkg+" ") {
			fmt.Fprintf(c.w, "     %s has not ended:\n", key)
			c.print(key)
			delete(c.output, key)
		}
	}
}

// mostLines bounds what is printed of one test: a trace of all goroutines may be long.
const mostLines = 400

func (c *counter) print(key string) {
	for i, line := range c.output[key] {
		if i == mostLines {
			fmt.Fprintf(c.w, "     … %d lines more\n", len(c.output[key])-i)
			return
		}
		fmt.Fprintf(c.w, "     %s\n", strings.TrimRight(line, "\n"))
	}
}

// reason returns what a skipped test said, without go test's own lines.
func reason(output []string) string {
	said := slices.DeleteFunc(slices.Clone(output), func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---")
	})
	return strings.Join(strings.Fields(strings.Join(said, " ")), " ")
}
