// SPDX-License-Identifier: BSD-3-Clause

//go:build !amd64 || purego

package main

import "github.com/goshmem/goshmem/examples/nas/internal/nas"

// forms returns the forms beside Go that the loops have been written in.
func forms() []nas.Form { return nil }

func vectorLoops(nas.Form) (loops, bool) { return loops{}, false }
