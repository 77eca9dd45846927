// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package shmem

import (
	"errors"
	"os"
	"runtime"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/loop"
	"github.com/goshmem/goshmem/internal/env"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/launcher/pmi"
)

// cores returns how many cores this process may run on.
func cores() int { return runtime.NumCPU() }

// openLone opens the domain of the only PE, in Go memory.
func openLone(l segment.Layout, vars env.Table) (Host, error) {
	if name, err := vars.FabricName(); err != nil || name == "ofi" {
		return Host{}, errors.Join(err, errOneNode)
	}
	world, err := loop.New(1, loop.Options{SegmentSize: l.Size, NodeSize: 1})
	if err != nil {
		return Host{}, err
	}
	d, err := world.Open(fabric.Job{NPEs: 1})
	if err != nil {
		return Host{}, err
	}
	return Host{Domain: d, Fabric: "loop", NPEs: 1}, connect(d, 0, 1)
}

var errOneNode = errors.New("several processes, and libfabric, work on Linux only: use shmemtest here, or run on Linux")

func openShared(*os.File, *pmi.Client, env.Table) (Host, error) { return Host{}, errOneNode }

func shareFile(*pmi.Client, segment.Layout) (*os.File, error) { return nil, errOneNode }
