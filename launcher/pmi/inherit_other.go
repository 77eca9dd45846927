// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package pmi

import (
	"errors"
	"os"
)

var errNotLinux = errors.New("inheriting file descriptors from a launcher works on Linux only")

func inherit(int, string) (*os.File, error) { return nil, errNotLinux }

func inodeOf(int) (uint64, error) { return 0, errNotLinux }

func closeOnExec(int) {}
