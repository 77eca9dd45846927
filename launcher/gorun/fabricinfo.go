// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/goshmem/goshmem/launcher"
)

const (
	// ofiTag is the build tag of what uses libfabric.
	ofiTag = "ofi"

	ourModule = "github.com/goshmem/goshmem"
	infoPath  = ourModule + "/fabric/ofi/fabricinfo"

	installOFI = "apt-get install -y libfabric-dev gcc"
)

// fabricInfo runs the program that shows what libfabric offers. gorun itself
// does without cgo, so the program is built first: in the module of the current
// folder if that has goshmem, as the program to be run would be, or else in the
// version of gorun.
func fabricInfo() (status int, err error) {
	p, err := buildInfo()
	if err != nil {
		return 0, err
	}
	defer p.remove()
	cmd := exec.Command(p.path)
	cmd.Args[0] = p.name
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return launcher.StatusOK, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode(), nil
	}
	return 0, statusError{fmt.Errorf("run fabricinfo: %w", err), launcher.StatusError}
}

func buildInfo() (program, error) {
	tags := []string{ofiTag}
	if exec.Command("go", "list", "-m", ourModule).Run() == nil {
		return build(".", tags, infoPath)
	}
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == ourModule {
		version = info.Main.Version
	}
	if _, err := exec.LookPath("go"); err == nil && (version == "" || strings.Contains(version, "devel") || strings.Contains(version, "+dirty")) {
		return program{}, statusError{fmt.Errorf("--fabric-info: this folder's module does not require %s, and this gorun is of no released version: run it in a module that does", ourModule), launcher.StatusUsage}
	}
	name := infoPath + "@" + version
	return goCommand(".", tags, name, func(string) []string { return []string{"install", name} })
}

// missingForOFI returns what to do so that a program for libfabric can be built,
// or "" if nothing seems to be missing.
func missingForOFI() string {
	compiler := "gcc"
	if cc := strings.Fields(os.Getenv("CC")); len(cc) > 0 {
		compiler = cc[0]
	}
	config := os.Getenv("PKG_CONFIG")
	if config == "" {
		config = "pkg-config"
	}
	if _, err := exec.LookPath(compiler); err != nil {
		return fmt.Sprintf("there is no C compiler (%s): %s", compiler, installOFI)
	}
	if os.Getenv("CGO_ENABLED") == "0" {
		return "unset CGO_ENABLED, which is 0"
	}
	if _, err := exec.LookPath(config); err != nil {
		return fmt.Sprintf("there is no %s: %s pkgconf", config, installOFI)
	}
	if exec.Command(config, "--exists", "libfabric").Run() != nil {
		return "libfabric's header files are not installed: " + installOFI
	}
	return ""
}

// userTags returns the build tags of the user, in GOFLAGS, which those on the
// command line replace.
func userTags(goflags string) []string {
	var tags []string
	for word := range strings.FieldsSeq(goflags) {
		if value, ok := strings.CutPrefix("-"+strings.TrimLeft(word, "-"), "-tags="); ok {
			tags = strings.Split(value, ",") // the last one counts
		}
	}
	return slices.DeleteFunc(tags, func(tag string) bool { return tag == "" })
}
