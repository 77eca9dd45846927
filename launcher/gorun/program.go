// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/goshmem/goshmem/launcher"
)

// A program is an executable to be started.
type program struct {
	path      string
	name      string   // its first argument
	temporary []string // to be removed once it runs
}

func (p program) remove() {
	for _, path := range p.temporary {
		os.RemoveAll(path)
	}
}

// find returns the program that arg names: a Go package, which it builds with
// tags, or an executable.
func find(arg string, tags []string) (program, error) {
	info, err := os.Stat(arg)
	if err == nil && info.IsDir() {
		return build(arg, tags, ".")
	}
	if err == nil && strings.HasSuffix(arg, ".go") {
		return build(filepath.Dir(arg), tags, filepath.Base(arg))
	}
	path, err := exec.LookPath(arg)
	if err == nil {
		path, err = filepath.Abs(path) // PEs may start elsewhere
	}
	switch {
	case err == nil:
		return program{path: path, name: arg}, nil
	case errors.Is(err, fs.ErrPermission):
		return program{}, statusError{fmt.Errorf("%s: not executable: chmod +x it, or give a Go package or .go file to be built", arg), launcher.StatusNotRunnable}
	case errors.Is(err, exec.ErrDot), !strings.Contains(arg, "/") && isFile(arg):
		return program{}, statusError{fmt.Errorf("%s: not found in $PATH, but in this folder: use ./%[1]s", arg), launcher.StatusNotFound}
	case !strings.Contains(arg, "/"):
		return program{}, statusError{fmt.Errorf("%s: not found in $PATH; for a file or package of this folder write ./%[1]s", arg), launcher.StatusNotFound}
	default:
		return program{}, statusError{fmt.Errorf("%s: not found", arg), launcher.StatusNotFound}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// build builds the package or file pkg with tags in dir, in the module that dir
// belongs to.
func build(dir string, tags []string, pkg string) (program, error) {
	return goCommand(dir, tags, filepath.Join(dir, pkg), func(temp string) []string {
		// A folder as the output refuses packages that are no program.
		return []string{"build", "-o", temp + string(filepath.Separator), pkg}
	})
}

// goCommand has the go command make an executable, the only file in a folder
// temp: args are its command and flags for it, name is what it makes it from. It
// speaks for itself on standard error.
func goCommand(dir string, tags []string, name string, args func(temp string) []string) (_ program, err error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return program{}, statusError{fmt.Errorf("%s is to be built, but there is no go command in $PATH: install Go, or give an executable", name), launcher.StatusNotFound}
	}
	// The executable stays removable while we build it.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)

	temp, err := os.MkdirTemp("", "gorun-")
	if err != nil {
		return program{}, statusError{fmt.Errorf("folder for the executable: %w", err), 1}
	}
	p := program{temporary: []string{temp}}
	defer func() {
		if err != nil {
			p.remove()
		}
	}()
	words := args(temp)
	if len(tags) > 0 {
		words = slices.Insert(words, 1, "-tags="+strings.Join(append(userTags(os.Getenv("GOFLAGS")), tags...), ","))
	}
	cmd := exec.Command(tool, words...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOBIN="+temp) // for go install
	if _, ok := os.LookupEnv("CGO_ENABLED"); !ok && slices.Contains(tags, ofiTag) {
		// Without a C compiler the go command would do without cgo, and so
		// without libfabric, and not say so.
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		return program{}, statusError{fmt.Errorf("start %s: %w", tool, err), 1}
	}
	stopped := make(chan os.Signal, 1)
	go func() {
		for s := range interrupts {
			select { // first: the signal may end it at once
			case stopped <- s:
			default:
			}
			cmd.Process.Signal(s)
		}
	}()
	err = cmd.Wait()
	signal.Stop(interrupts)
	close(interrupts)
	select {
	case s := <-stopped:
		n, _ := s.(syscall.Signal)
		return program{}, statusError{fmt.Errorf("stopped by signal %d (%v) while the program was built", n, n), launcher.StatusSignal + int(n)}
	default:
	}
	if err != nil {
		err = fmt.Errorf("%s could not be built (%w)", name, err)
		if slices.Contains(tags, ofiTag) {
			if remedy := missingForOFI(); remedy != "" {
				err = fmt.Errorf("%w; it is built with -tags %s, for libfabric: %s", err, ofiTag, remedy)
			}
		}
		return program{}, statusError{err, max(1, cmd.ProcessState.ExitCode())}
	}
	entries, err := os.ReadDir(temp)
	if err != nil || len(entries) != 1 {
		return program{}, statusError{fmt.Errorf("%s gave %d executables, want 1", name, len(entries)), 1}
	}
	p.path = filepath.Join(temp, entries[0].Name())
	p.name = entries[0].Name()
	return p, nil
}
