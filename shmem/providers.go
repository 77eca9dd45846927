// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/env"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/launcher/pmi"
)

// openHost opens the domain that this process's PE lives in: on the shared
// file of gorun, on one that the PEs of another launcher make among themselves, or
// alone. client is nil for a lone process.
func openHost(client *pmi.Client, vars env.Table) (Host, error) {
	if client == nil {
		l, err := layoutFor(1, vars)
		if err != nil {
			return Host{}, err
		}
		return openLone(l, vars)
	}
	file := client.SegmentFile()
	if file == nil {
		l, err := layoutFor(client.NPEs(), vars)
		if err != nil {
			return Host{}, err
		}
		if file, err = shareFile(client, l); err != nil {
			return Host{}, err
		}
	}
	return openShared(file, client, vars)
}

// layoutFor returns the layout of a node that holds all npes PEs.
func layoutFor(npes int, vars env.Table) (segment.Layout, error) {
	heap, err := vars.HeapSize()
	if err != nil {
		return segment.Layout{}, err
	}
	return segment.Layout{PEs: npes, NPEs: npes, Size: segment.SizeForHeap(uintptr(heap)), Cores: cores()}, nil
}

// connect registers and connects a domain whose PEs share memory: they need no
// blobs of each other.
func connect(d fabric.Domain, pe, npes int) error {
	blobs := make([][]byte, npes)
	var err error
	if blobs[pe], err = d.Register(d.Map(pe)); err != nil {
		return err
	}
	return d.Connect(fabric.NewTable(blobs))
}
