// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package pmi

import (
	"errors"
	"net/netip"
	"os"
	"time"
)

var errNotLinux = errors.New("launchers are supported on Linux only")

func dial(netip.AddrPort, time.Time) (*os.File, error) { return nil, errNotLinux }

func inherit(int, string) (*os.File, error) { return nil, errNotLinux }

func inodeOf(int) (uint64, error) { return 0, errNotLinux }

func closeOnExec(int) {}
