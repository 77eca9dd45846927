// SPDX-License-Identifier: BSD-3-Clause

// Command gorun runs a program as a job of several PEs.
//
//	gorun -np 8 ./app args…        # eight processes of an executable
//	gorun -np 8 ./examples/hello   # of a Go package, which is built first
//	gorun --host a:4,b:4 --launcher-exec 'ip netns exec {host}' ./app
//
// gorun -h lists the flags. Each can be set in the environment as well:
// GORUN_NP=8, GORUN_LABEL=1; a flag on the command line wins.
//
// Standard input goes to PE 0. Signals are passed on to all PEs. The status is
// 0 if all PEs have ended well, else that of the first PE that has not (128 + n
// if it was killed by signal n), or 113 if a host is lost; the last line on
// standard error then says which one, why, and what a PE has said last.
//
// Nothing outlives gorun, however it ends: not even a process that a PE has put
// into a session of its own, unless that is on another machine and gorun's proxy
// there is itself killed.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/goshmem/goshmem/launcher"
)

func main() {
	if launcher.IsProxy(os.Args) {
		os.Exit(launcher.Proxy())
	}
	os.Exit(gorun(os.Args[1:]))
}

// A statusError is an error with the status that it gives gorun.
type statusError struct {
	error
	status int
}

// gorun runs the job that the arguments ask for and returns its status.
func gorun(args []string) int {
	status, err := start(args)
	if err == nil {
		return status
	}
	fmt.Fprintf(os.Stderr, "gorun: %v\n", err)
	var known statusError
	if errors.As(err, &known) {
		return known.status
	}
	return launcher.StatusUsage
}

func start(args []string) (status int, err error) {
	o, err := parse(args, os.LookupEnv)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w (gorun -h lists the flags)", err)
	case o.help:
		fmt.Print(usage())
		return launcher.StatusOK, nil
	case o.version:
		fmt.Println(version())
		return launcher.StatusOK, nil
	}
	if o.info {
		return fabricInfo()
	}
	job, err := o.job(os.Environ())
	if err != nil {
		return 0, err
	}
	p, err := find(o.program, o.tags())
	if err != nil {
		return 0, err
	}
	defer p.remove()
	job.Path = p.path
	job.Args = append([]string{p.name}, o.args...)
	job.Remove = p.temporary
	return launcher.Run(job), nil
}
